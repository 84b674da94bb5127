# SPDX-License-Identifier: BSD-3-Clause
# An AArch64 guest with hardware counters, for machines that have none: qemu-system-aarch64 emulates the PMU of Arm's processors, the cycle
# counter of which overflows with a real interrupt. The kernel and the libraries are Debian's, by apt; hpcview is cross-built.
#
#     . "$top_srcdir/tests/counters/guest.sh"
#     guest_prepare || skip_all "$guest_lacks"
#     guest_run FOLDER "neoverse-n1 -icount shift=1" 'commands' || not_ok "..." "$(cat FOLDER/console)"
#
# $guest has the packages (HPCVIEW_GUEST names another place, for several builds to share them), $arm64 what is cross-built, laid out as a
# build folder is. Both, the sources and FOLDER have the same paths in the guest; it can write to FOLDER only.

: "${ARM_CC:=aarch64-linux-gnu-gcc}"
top_srcdir=$(cd "$top_srcdir" && pwd) && top_builddir=$(cd "$top_builddir" && pwd) || exit 1
arm64=$top_builddir/tests/counters/arm64
guest=${HPCVIEW_GUEST:-$top_builddir/tests/counters/guest}
guest_kernel=linux-image-arm64
guest_packages='libc6-dev libgomp1 libstdc++6 libpapi-dev libpfm4-dev libxml2-dev zlib1g-dev busybox-static'
guest_modules='virtio_mmio 9pnet 9pnet_virtio netfs fscache 9p'
guest_lacks=

# apt's own commands, with lists of arm64 packages, independent of this machine's state
guest_apt() {
    guest_apt_command=$1
    shift
    timeout 120 "$guest_apt_command" -q -oAPT::Get::Assume-Yes=1 -oAPT::Architecture=arm64 -oAPT::Architectures=arm64 -oDir::State="$guest/apt" -oDir::State::Lists="$guest/apt/lists" \
        -oDir::State::status="$guest/apt/status" -oDir::Cache="$guest/apt" -oDir::Cache::archives="$guest/apt/archives" -oDebug::NoLocking=1 \
        -oAPT::Sandbox::User= -oAcquire::Retries=1 -oAcquire::http::Timeout=20 -oAcquire::https::Timeout=20 "$@"
}

guest_download() {
    mkdir -p "$guest/apt/lists/partial" "$guest/apt/archives/partial" && : >"$guest/apt/status" || return 1
    guest_apt apt-get update || return 1
    # shellcheck disable=SC2086
    guest_apt apt-get --no-install-recommends -d install $guest_packages || return 1
    guest_kernel_name=$(guest_apt apt-cache depends $guest_kernel | sed -n 's/.*Depends: \(linux-image-[^ ]*\)/\1/p' | head -n 1)
    cd "$guest/apt/archives" && guest_apt apt-get download "$guest_kernel_name"
}

# Unpacks the packages to $guest/system; of the kernel's large package, only the parts that are used.
guest_unpack() {
    rm -rf "$guest/system" "$guest/initrd" && mkdir -p "$guest/system" "$guest/initrd/modules" || return 1
    for guest_package in "$guest"/apt/archives/*.deb; do
        case $guest_package in
        */linux-image-*) guest_kernel_file=$guest_package ;;
        *) dpkg -x "$guest_package" "$guest/system" || return 1 ;;
        esac
    done
    [ -e "$guest/system/lib" ] || ln -s usr/lib "$guest/system/lib" # (from Debian 13 on all is in usr)
    # shellcheck disable=SC2046,SC2086
    dpkg --fsys-tarfile "$guest_kernel_file" | tar -x -C "$guest/initrd" --wildcards --no-anchored './boot/vmlinuz-*' $(printf '%s.ko* ' $guest_modules)
    mv "$guest"/initrd/boot/vmlinuz-* "$guest/vmlinuz" && find "$guest/initrd/lib" -name '*.ko*' -exec mv {} "$guest/initrd/modules/" \; &&
        find "$guest/initrd/modules" -name '*.xz' -exec xz -d {} + &&
        cp "$(find "$guest/system" -path '*/bin/busybox')" "$guest/initrd/busybox" && rm -rf "$guest/initrd/boot" "$guest/initrd/lib" "$guest/apt/archives"
}

# Modules are loaded in the order of their dependencies.
guest_initrd() {
    cp "$top_srcdir/tests/counters/init" "$guest/initrd/init" && printf '%s\n' $guest_modules >"$guest/initrd/modules/order" &&
        (cd "$guest/initrd" && find . | cpio -o -H newc --quiet) >"$arm64/initrd"
}

# The configuration of this build, with the libraries that the guest has.
guest_configuration() {
    sed '/define HAVE_\(ZSTD\|IBERTY\|MPI\|CAPSTONE\|PFM\|PAPI\) /d' "$top_builddir/config.h" >"$arm64/config.h.new" &&
        printf '#define HAVE_PFM 1\n#define HAVE_PAPI 1\n' >>"$arm64/config.h.new" || return 1
    cmp -s "$arm64/config.h.new" "$arm64/config.h" || mv "$arm64/config.h.new" "$arm64/config.h"
}

# guest_make TARGET...
guest_make() {
    make -s -C "$top_srcdir" -f tests/counters/arm64.mk -j"$(nproc)" OUT="$arm64" BUILD="$top_builddir" SYSTEM="$guest/system" \
        CC="$(command -v ccache) $ARM_CC" FC="${ARM_CC%gcc}gfortran" "$@"
}

# guest_build: builds the programs for the guest. A failure is an error, described in $arm64/make.log.
guest_build() {
    mkdir -p "$arm64/driver" "$arm64/programs" && guest_configuration && guest_initrd && : >"$arm64/config.status" &&
        ln -sfn "$top_srcdir/share" "$arm64/share" && guest_make all >"$arm64/make.log" 2>&1
}

# guest_prepare: returns 0, or sets $guest_lacks to the reason why there is no guest
guest_prepare() {
    for guest_command in qemu-system-aarch64 "$ARM_CC" cpio dpkg apt-get make; do
        command -v "$guest_command" >/dev/null 2>&1 || { guest_lacks="no $guest_command here" && return 1; }
    done
    mkdir -p "$guest" "$arm64" || return 1
    if [ ! -f "$guest/complete" ]; then
        (guest_download) >"$guest/download.log" 2>&1 || { guest_lacks="Debian's arm64 packages cannot be downloaded: $(tail -n 1 "$guest/download.log")" && return 1; }
        (guest_unpack) >"$guest/unpack.log" 2>&1 || { guest_lacks="Debian's arm64 packages cannot be unpacked: $(tail -n 1 "$guest/unpack.log")" && return 1; }
        touch "$guest/complete"
    fi
}

# guest_start FOLDER "PROCESSOR OPTIONS" KERNEL-ARGUMENTS CONSOLE...: a guest that can write to FOLDER
guest_start() {
    guest_folder=$1 guest_options=$2 guest_arguments=$3
    shift 3
    # shellcheck disable=SC2086
    exec qemu-system-aarch64 -M virt -m 1024 -cpu $guest_options -no-reboot -nodefaults -nographic "$@" -kernel "$guest/vmlinuz" -initrd "$arm64/initrd" \
        -append "console=ttyAMA0 quiet panic=-1 hpcview.work=$guest_folder hpcview.source=$top_srcdir hpcview.arm64=$arm64 $guest_arguments" \
        $(guest_share system "$guest/system") $(guest_share source "$top_srcdir") $(guest_share arm64 "$arm64") $(guest_share work "$guest_folder" off)
}
guest_share() { printf -- '-fsdev local,id=%s,path=%s,security_model=none,readonly=%s -device virtio-9p-device,fsdev=%s,mount_tag=%s ' "$1" "$2" "${3-on}" "$1" "$1"; }

# guest_run FOLDER "PROCESSOR OPTIONS" COMMANDS [KERNEL-ARGUMENTS]: runs them in a guest; afterwards, FOLDER contains
# out, err and status. Returns 1 if the guest did not boot or did not end, with the last console lines in $guest_lacks.
# The limit is CPU time, so that other load on this machine does not matter, and an hour for guests that hang without
# using any.
guest_run() {
    rm -f "$1/booted" "$1/status"
    printf '%s\n' "$3" >"$1/commands"
    timeout -k 5 "${GUEST_SECONDS:-3600}" sh -c 'ulimit -t 900; . "$top_srcdir/tests/counters/guest.sh"; guest_start "$@"' sh "$1" "$2" "${4-}" \
        -serial "file:$1/console" </dev/null >"$1/qemu" 2>&1
    [ ! -f "$1/status" ] || return 0
    if [ -f "$1/booted" ]; then guest_lacks="the guest did not end:"; else guest_lacks="the guest did not boot:"; fi
    guest_lacks="$guest_lacks
$(tail -n 20 "$1/console" "$1/qemu")"
    return 1
}

# SPDX-License-Identifier: BSD-3-Clause
# ---- examples: installed as source, built by the same small makefiles for the tests ----
examplesdir = $(pkgdatadir)/examples
dist_examples_DATA = %D%/examples/README.md
heatdir = $(examplesdir)/heat
dist_heat_DATA = \
	%D%/examples/heat/Makefile %D%/examples/heat/driver.c %D%/examples/heat/sparse.f90 \
	%D%/examples/heat/elements.f90 %D%/examples/heat/solver.f90 %D%/examples/heat/heat.f90
particlesdir = $(examplesdir)/particles
dist_particles_DATA = \
	%D%/examples/particles/Makefile %D%/examples/particles/particles.cpp %D%/examples/particles/cells.hpp \
	%D%/examples/particles/vec.hpp
wavedir = $(examplesdir)/wave
dist_wave_DATA = %D%/examples/wave/Makefile %D%/examples/wave/wave.c
sweepdir = $(examplesdir)/sweep
dist_sweep_DATA = %D%/examples/sweep/Makefile %D%/examples/sweep/sweep.c
papersdir = $(examplesdir)/papers
dist_papers_DATA = \
	%D%/examples/papers/boundary.c %D%/examples/papers/timestep.c %D%/examples/papers/kernels.c \
	%D%/examples/papers/bottleneck.asl

EXAMPLES =
if HAVE_FC
EXAMPLES += %D%/examples/heat/heat
endif
if HAVE_CXX
EXAMPLES += %D%/examples/particles/particles
endif
if HAVE_OPENMP
EXAMPLES += %D%/examples/wave/wave
endif
check_DATA += $(EXAMPLES)
CLEANFILES += $(EXAMPLES) %D%/examples/heat/*.o %D%/examples/heat/*.mod

examples: $(EXAMPLES)
.PHONY: examples

# With their own flags: the tests measure programs as a user builds them, independent of the flags of hpcview's own build.
$(EXAMPLES): $(dist_heat_DATA) $(dist_particles_DATA) $(dist_wave_DATA)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && cd $(@D) && \
	  env -u MAKEFLAGS $(MAKE) -s -f $(abs_top_srcdir)/$(@D)/Makefile \
	    CC='$(CC)' CXX='$(CXX)' FC='$(FC)' CFLAGS='-O3 -g' CXXFLAGS='-O3 -g' FCFLAGS='-O3 -g' && touch $(@F)

schemasdir = $(pkgdatadir)/schemas
dist_schemas_DATA = %D%/schemas/structure.rng %D%/schemas/configuration.rng

# ---- metric blocks (doc/formats/metrics.md); in the build tree these folders lie where the command looks for them -------
metricsdir = $(pkgdatadir)/metrics
dist_metrics_DATA = %D%/metrics/quantities.xml %D%/metrics/general.xml %D%/metrics/topdown-intel.xml \
	%D%/metrics/topdown-arm.xml
all-local: share-here
share-here:
	@for folder in %D%/metrics %D%/machines %D%/properties; do \
	  test -e $$folder || { $(MKDIR_P) %D% && ln -s $(abs_top_srcdir)/$$folder $$folder; } || exit 1; done
clean-local: share-clean
share-clean:
	@for folder in %D%/metrics %D%/machines %D%/properties; do test ! -h $$folder || rm -f $$folder; done
.PHONY: share-here share-clean

# ---- machines for hpcview simulate and hpcview quality; one file each -----------------------------------------------------------
machinesdir = $(pkgdatadir)/machines
dist_machines_DATA = %D%/machines/a64fx.xml %D%/machines/ice-lake-server.xml %D%/machines/lion-cove.xml %D%/machines/neoverse-n1.xml \
	%D%/machines/neoverse-n2.xml %D%/machines/neoverse-v1.xml %D%/machines/neoverse-v2.xml %D%/machines/redwood-cove.xml \
	%D%/machines/sapphire-rapids.xml %D%/machines/skylake-server.xml %D%/machines/year-2001.xml %D%/machines/zen2.xml \
	%D%/machines/zen3.xml %D%/machines/zen4.xml %D%/machines/zen5.xml
dist_schemas_DATA += %D%/schemas/machine.rng %D%/schemas/print.json

# ---- properties for hpcview diagnose --------------------------------------------------
propertiesdir = $(pkgdatadir)/properties
dist_properties_DATA = %D%/properties/names.asl %D%/properties/time.asl %D%/properties/parallel.asl %D%/properties/memory.asl \
	%D%/properties/code.asl %D%/properties/core.asl

# ---- completion of words in shells, where each looks for it; they ask the command ----
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = %D%/completions/hpcview
zshcompletiondir = $(datadir)/zsh/site-functions
dist_zshcompletion_DATA = %D%/completions/_hpcview
fishcompletiondir = $(datadir)/fish/vendor_completions.d
dist_fishcompletion_DATA = %D%/completions/hpcview.fish

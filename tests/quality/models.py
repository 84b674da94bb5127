#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Machine files beside the scheduling models of an installed llvm-mca: latency, and reciprocal throughput from the ports.
By hand; usage: models.py [--mca llvm-mca-19] share/machines/*.xml     prints what differs; nothing where all agree."""
import json, subprocess, sys
import xml.etree.ElementTree as ET
CPU = {'skylake-server': 'skylake-avx512', 'ice-lake-server': 'icelake-server', 'sapphire-rapids': 'sapphirerapids', 'zen2': 'znver2', 'zen3': 'znver3',
       'zen4': 'znver4', 'neoverse-n2': 'neoverse-n2', 'neoverse-n1': 'neoverse-n1', 'neoverse-v1': 'neoverse-v1', 'neoverse-v2': 'neoverse-v2', 'a64fx': 'a64fx'}
X86 = {'int': 'addq %rax,%rbx', 'shift': 'shlq $3,%rax', 'int-multiply': 'imulq %rax,%rbx', 'load': 'movq (%rax),%rbx', 'vector-int': 'vpaddd %ymm0,%ymm1,%ymm2',
       'vector-logic': 'vpand %ymm0,%ymm1,%ymm2', 'vector-shift': 'vpsrlq $3,%ymm1,%ymm2', 'vector-multiply': 'vpmuludq %ymm0,%ymm1,%ymm2',
       'shuffle': 'vpshufd $1,%ymm1,%ymm2', 'shuffle-wide': 'vperm2f128 $1,%ymm0,%ymm1,%ymm2', 'fp-add': 'vaddpd %ymm0,%ymm1,%ymm2',
       'fp-multiply': 'vmulpd %ymm0,%ymm1,%ymm2', 'fp-fma': 'vfmadd231pd %ymm0,%ymm1,%ymm2', 'fp-minmax': 'vmaxpd %ymm0,%ymm1,%ymm2',
       'fp-compare': 'vcmpltpd %ymm0,%ymm1,%ymm2', 'fp-divide-32': 'vdivss %xmm0,%xmm1,%xmm2', 'fp-divide-64': 'vdivsd %xmm0,%xmm1,%xmm2',
       'fp-sqrt-32': 'vsqrtss %xmm0,%xmm1,%xmm2', 'fp-sqrt-64': 'vsqrtsd %xmm0,%xmm1,%xmm2', 'convert': 'vcvtdq2ps %ymm1,%ymm2', 'to-general': 'vmovq %xmm1,%rax'}
ARM = {'int': 'add x1,x2,x3', 'shift': 'lsl x1,x2,#3', 'int-multiply': 'mul x1,x2,x3', 'load': 'ldr x1,[x2]', 'vector-int': 'add v1.4s,v2.4s,v3.4s',
       'vector-logic': 'and v1.16b,v2.16b,v3.16b', 'vector-shift': 'ushr v1.2d,v2.2d,#3', 'fp-add': 'fadd v1.2d,v2.2d,v3.2d', 'fp-multiply': 'fmul v1.2d,v2.2d,v3.2d',
       'fp-fma': 'fmla v1.2d,v2.2d,v3.2d', 'fp-minmax': 'fmax v1.2d,v2.2d,v3.2d', 'fp-compare': 'fcmgt v1.2d,v2.2d,v3.2d', 'fp-divide-32': 'fdiv s1,s2,s3',
       'fp-divide-64': 'fdiv d1,d2,d3', 'fp-sqrt-32': 'fsqrt s1,s2', 'fp-sqrt-64': 'fsqrt d1,d2', 'convert': 'scvtf v1.2d,v2.2d', 'to-general': 'fmov x1,d2'}
mca, files = 'llvm-mca', sys.argv[1:]
if files[0] == '--mca': mca, files = files[1], files[2:]
for path in files:
    core = ET.parse(path).getroot().find('core')
    name = path.split('/')[-1][:-4]
    if core is None or name not in CPU: continue
    arm = core.get('arch') == 'aarch64'
    code = ARM if arm else X86
    kinds = [k for k in code]
    out = subprocess.run([mca, '--json', '-mtriple=' + ('aarch64' if arm else 'x86_64'), '-mcpu=' + CPU[name], '-'], input='\n'.join(code[k] for k in kinds) + '\n', capture_output=True, text=True)
    if out.returncode: print(name, out.stderr[:200]); continue
    infos = json.loads(out.stdout)['CodeRegions'][0]['InstructionInfoView']['InstructionList']
    ops = {op.get('kind'): op for op in core.findall('op')}
    for kind, info in zip(kinds, infos):
        op = ops.get(kind)
        if op is None: continue
        ours = float(op.get('latency'))
        ports = (op.get('uops-256') or op.get('uops', '')).split()
        busy = float(op.get('busy', 1))
        rate = max([busy / len(p) for p in ports if p], default=0) if len(set(ports)) == len(ports) else None
        marks = []
        if ours != info['Latency']: marks.append(f"latency {ours:g} / {info['Latency']}")
        if rate is not None and abs(rate - info['RThroughput']) > 0.26: marks.append(f"every {rate:.2f} / {info['RThroughput']}")
        if marks: print(f'{name:16} {kind:16} {", ".join(marks)}')

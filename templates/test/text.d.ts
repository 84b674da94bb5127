// SPDX-License-Identifier: BSD-3-Clause
declare module '*.txt' {
  const text: string;
  export default text;
}

declare module '*.cases' {
  const text: string;
  export default text;
}

// The parts of node that the tests use.
declare module 'node:fs' {
  export function readdirSync(path: string): string[];
  export function readFileSync(path: string, encoding: 'utf8'): string;
}
declare module 'node:zlib' {
  export function inflateSync(bytes: Uint8Array): Uint8Array;
  export function deflateSync(bytes: Uint8Array, options: { readonly level: number }): { toString(encoding: 'base64'): string };
}
declare module 'node:buffer' {
  export function resolveObjectURL(url: string): Blob | undefined;
}
declare function setImmediate(action: (nothing: unknown) => void): void;
declare const process: { readonly env: { readonly [name: string]: string | undefined }; exitCode: number };

// SPDX-License-Identifier: BSD-3-Clause
// What browsers have, or blocks of the database ask for by name, and the type checker does not know. Names that are
// declared here are not shortened by the bundler.

interface Window {
  hpcview_data?: (name: string, base64: string) => void;
  trustedTypes?: {
    createPolicy(
      name: string,
      rules: { createScriptURL(url: string): string },
    ): { createScriptURL(url: string): string };
  };
}

interface Uint8ArrayConstructor {
  fromBase64?: (text: string) => Uint8Array<ArrayBuffer>;
}

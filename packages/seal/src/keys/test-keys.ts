/**
 * Keys, as base64url, that everybody knows: those of this project's own tests and documents, and those of the
 * standards. A key ring takes one only where the environment is exactly `test`.
 */
export const publishedTestKeys: readonly string[] = [
  // 32 zero bytes.
  'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
  // 32 bytes of all ones.
  '__________________________________________8',
  // The bytes 0 to 31: the key of the golden vectors.
  'AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8',
  // The bytes 1 to 32.
  'AQIDBAUGBwgJCgsMDQ4PEBESExQVFhcYGRobHB0eHyA',
  // The content encryption key of RFC 7516, appendix A.1.
  'saH0gFSP4XM_tAP_a5rU9ooHbltwLiJpL4LLLnrqQPw',
];

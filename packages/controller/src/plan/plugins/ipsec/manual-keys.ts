const combined = /gcm|gmac|chacha/;
const integrityBytes: Readonly<Record<string, number>> = { '1': 20, '256': 32, '384': 48, '512': 64 };

/** Bytes of the keys of an ESP proposal; those of counter modes have their salt at the end. */
export const manualKeyBytes = (proposal: string, encrypts: boolean): { encryption: number; integrity: number } => {
  const plain = proposal.toLowerCase().replaceAll(/[-_ ]/g, '');
  const isCombined = combined.test(plain);
  const [, hash = '256'] = /sha2?(1|256|384|512)/.exec(plain) ?? [];
  const integrity = isCombined ? 0 : (integrityBytes[hash] ?? 0);
  const isChacha = plain.startsWith('chacha');
  // Without encryption GCM becomes GMAC with the same key; all others become NULL.
  if (/^null(?!aes)/.test(plain) || (!encrypts && (!isCombined || isChacha))) {
    return { encryption: 0, integrity: isChacha ? 32 : integrity };
  }
  const [, bits = '128'] = /^(?:null)?aes(128|192|256)/.exec(plain) ?? [];
  const key = isChacha ? 32 : plain.startsWith('3des') ? 24 : Number(bits) / 8;
  return { encryption: key + (isCombined || plain.includes('ctr') ? 4 : 0), integrity };
};

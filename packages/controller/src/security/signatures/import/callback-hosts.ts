const callbackHosts =
  /(?<![a-z0-9-])(?:interact\.sh|interactsh\.com|oast\.(?:fun|live|site|online|pro|me|today)|oastify\.com|burpcollaborator\.net|dnslog\.cn|ceye\.io|requestbin\.[a-z]+|webhook\.site|canarytokens\.(?:com|org)|ngrok\.io|xip\.io|bxss\.me)(?![a-z0-9-])/gi;

/** Names of callback services become one that only the server agent of a test answers for. All other bytes stay. */
export const withoutCallbacks = (bytes: Buffer): Buffer => {
  const text = bytes.toString('latin1');
  return text.search(callbackHosts) >= 0 ? Buffer.from(text.replace(callbackHosts, 'oob.test'), 'latin1') : bytes;
};

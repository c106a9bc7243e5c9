const reservedNames = /(?:^|\.)(?:test|example|invalid|localhost|example\.(?:com|net|org))$/i;
const reservedAddresses =
  /^(?:127\.|192\.0\.2\.|198\.51\.100\.|203\.0\.113\.)\d|^\[?(?:::1|2001:db8:[0-9a-f:]*)\]?$|^0\.0\.0\.0$/i;

/** Services that wait for calls from attacked machines; nothing of ours may ever call them. */
const outOfBand =
  /(?:^|[^a-z0-9-])(?:interact\.sh|interactsh\.com|oast\.(?:fun|live|site|online|pro|me)|oastify\.com|burpcollaborator\.net|dnslog\.cn|ceye\.io|requestbin\.[a-z]+|webhook\.site|canarytokens\.(?:com|org)|ngrok\.io|xip\.io|bxss\.me)(?![a-z0-9-])/i;

/** A name or address that belongs to nobody: reserved for tests and documentation, or this machine itself. */
export const isReservedHost = (host: string) => {
  const name = host.replace(/:\d+$/, '');
  return name === '' || reservedNames.test(name) || reservedAddresses.test(name);
};

/** The host of a request target that names one itself, such as `http://host/path`. */
export const hostInTarget = (target: string) =>
  /^\s*[a-z][a-z0-9+.-]*:\/\/([^/?#\s]*)/i.exec(target)?.[1]?.replace(/^.*@/, '');

export const outOfBandHostIn = (text: string) => outOfBand.exec(text)?.[0]?.replace(/^[^a-z0-9]/i, '');

import { BlockList, isIP } from 'node:net';

/** Names and addresses that belong to nobody: RFC 2606, 6761, 5737, 3849. */
const reservedEndings = ['test', 'example', 'invalid', 'localhost'];
const reservedNames = ['example.com', 'example.net', 'example.org'];
const reserved = new BlockList();
for (const prefix of ['192.0.2.0', '198.51.100.0', '203.0.113.0']) reserved.addSubnet(prefix, 24, 'ipv4');
reserved.addSubnet('127.0.0.0', 8, 'ipv4');
reserved.addSubnet('2001:db8::', 32, 'ipv6');

/** Endings that names in a text would have; words with dots that are no names (versions, files) have others. */
const endings =
  'com|net|org|io|info|biz|ru|cn|de|uk|eu|us|co|dev|app|xyz|top|online|site|cloud|me|tv|cc|gov|edu|mil|int|arpa|onion|local';
const namePattern = new RegExp(`(?<![\\w.-])(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\\.)+(?:${endings})(?![\\w-])`, 'gi');
const v4Pattern = /(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])/g;
const v6Pattern = /(?<![\w:.])(?:[0-9a-f]{0,4}:){2,7}[0-9a-f]{0,4}(?![\w:])/gi;

function* textsIn(value: unknown): Generator<string> {
  if (typeof value === 'string') yield value;
  else if (typeof value === 'object' && value !== null) {
    for (const [name, part] of Object.entries(value)) {
      if (!Array.isArray(value)) yield name;
      yield* textsIn(part);
    }
  }
}

const isReservedName = (name: string) => {
  const lower = name.toLowerCase();
  const isBelow = reservedNames.some((known) => lower === known || lower.endsWith(`.${known}`));
  return isBelow || reservedEndings.includes(lower.split('.').at(-1) ?? '');
};

const isReservedAddress = (address: string) => {
  const version = isIP(address);
  return version === 0 || reserved.check(address, version === 4 ? 'ipv4' : 'ipv6');
};

/** Every host in a piece of content that is somebody's: shipped content must name none. */
export const foreignNames = (content: unknown): string[] => {
  const found: string[] = [];
  for (const text of textsIn(content)) {
    found.push(...(text.match(namePattern) ?? []).filter((name) => !isReservedName(name)));
    const addresses = [...(text.match(v4Pattern) ?? []), ...(text.match(v6Pattern) ?? [])];
    found.push(...addresses.filter((address) => !isReservedAddress(address)));
  }
  return [...new Set(found)];
};

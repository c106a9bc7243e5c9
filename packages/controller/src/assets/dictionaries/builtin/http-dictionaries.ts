import type { BuiltinDictionary } from './builtin-dictionary.ts';

export const httpMethods: BuiltinDictionary = {
  name: 'HTTP methods',
  description: 'Registered methods of HTTP and WebDAV with what they promise, and a few that nobody registered',
  tags: 'http',
  selection: 'sequential',
  columns: ['method', 'safe', 'idempotent', 'kind'],
  rows: [
    ['GET', 'yes', 'yes', 'http'],
    ['HEAD', 'yes', 'yes', 'http'],
    ['POST', 'no', 'no', 'http'],
    ['PUT', 'no', 'yes', 'http'],
    ['DELETE', 'no', 'yes', 'http'],
    ['CONNECT', 'no', 'no', 'http'],
    ['OPTIONS', 'yes', 'yes', 'http'],
    ['TRACE', 'yes', 'yes', 'http'],
    ['PATCH', 'no', 'no', 'http'],
    ['PROPFIND', 'yes', 'yes', 'webdav'],
    ['PROPPATCH', 'no', 'yes', 'webdav'],
    ['MKCOL', 'no', 'yes', 'webdav'],
    ['COPY', 'no', 'yes', 'webdav'],
    ['MOVE', 'no', 'yes', 'webdav'],
    ['LOCK', 'no', 'no', 'webdav'],
    ['UNLOCK', 'no', 'yes', 'webdav'],
    ['SEARCH', 'yes', 'yes', 'webdav'],
    ['REPORT', 'yes', 'yes', 'webdav'],
    ['MKCALENDAR', 'no', 'yes', 'webdav'],
    ['ACL', 'no', 'yes', 'webdav'],
    ['BIND', 'no', 'yes', 'webdav'],
    ['REBIND', 'no', 'yes', 'webdav'],
    ['UNBIND', 'no', 'yes', 'webdav'],
    ['LINK', 'no', 'yes', 'webdav'],
    ['UNLINK', 'no', 'yes', 'webdav'],
    ['VERSION-CONTROL', 'no', 'yes', 'webdav'],
    ['CHECKOUT', 'no', 'yes', 'webdav'],
    ['CHECKIN', 'no', 'yes', 'webdav'],
    ['UNCHECKOUT', 'no', 'yes', 'webdav'],
    ['MKWORKSPACE', 'no', 'yes', 'webdav'],
    ['UPDATE', 'no', 'yes', 'webdav'],
    ['LABEL', 'no', 'yes', 'webdav'],
    ['MERGE', 'no', 'yes', 'webdav'],
    ['BASELINE-CONTROL', 'no', 'yes', 'webdav'],
    ['MKACTIVITY', 'no', 'yes', 'webdav'],
    ['ORDERPATCH', 'no', 'yes', 'webdav'],
    ['MKREDIRECTREF', 'no', 'yes', 'webdav'],
    ['UPDATEREDIRECTREF', 'no', 'yes', 'webdav'],
    ['PRI', 'yes', 'yes', 'http2'],
    ['PURGE', 'no', 'yes', 'unregistered'],
    ['BAN', 'no', 'yes', 'unregistered'],
    ['DEBUG', 'no', 'no', 'unregistered'],
    ['TRACK', 'yes', 'yes', 'unregistered'],
    ['RUSHHOUR', 'no', 'no', 'unregistered'],
  ],
};

const desktops = [
  'Windows NT 10.0; Win64; x64',
  'Macintosh; Intel Mac OS X 10_15_7',
  'X11; Linux x86_64',
  'X11; CrOS x86_64 14541.0.0',
];
const phones = ['Linux; Android 10; K', 'Linux; Android 14; SM-S921B', 'Linux; Android 15; Pixel 9'];
const chromiums = ['120.0.0.0', '126.0.0.0', '131.0.0.0', '138.0.0.0'];
const geckos = ['115.0', '128.0', '133.0', '140.0'];
const appleSystems = ['16_7', '17_6', '18_5'];

const blink = (system: string, version: string, more = '') =>
  `Mozilla/5.0 (${system}) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${version} ${more}Safari/537.36`;

const safari = (device: string, system: string) => {
  const version = system.replace('_', '.');
  const os = device === 'iPad' ? `CPU OS ${system}` : `CPU iPhone OS ${system}`;
  return `Mozilla/5.0 (${device}; ${os} like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${version} Mobile/15E148 Safari/604.1`;
};

const programs = [
  'curl/8.5.0',
  'curl/7.88.1',
  'Wget/1.21.3',
  'python-requests/2.32.3',
  'python-httpx/0.27.0',
  'Go-http-client/1.1',
  'Go-http-client/2.0',
  'okhttp/4.12.0',
  'Java/17.0.11',
  'Apache-HttpClient/4.5.14 (Java/17.0.11)',
  'PostmanRuntime/7.39.0',
  'axios/1.7.2',
  'node',
  'Dalvik/2.1.0 (Linux; U; Android 14; Pixel 8 Build/AP2A.240705.004)',
  'Debian APT-HTTP/1.3 (2.6.1)',
  'libdnf (Fedora Linux 40; server; Linux.x86_64)',
  'git/2.43.0',
  'rushhour/1.0 (+https://rushhour.test/)',
];

export const userAgents: BuiltinDictionary = {
  name: 'User agents',
  description: 'User-Agent headers of browsers, phones and programs',
  tags: 'http,header',
  selection: 'random',
  columns: ['userAgent'],
  values: [
    ...desktops.flatMap((system) => chromiums.map((version) => blink(system, version))),
    ...chromiums.map((version) => `${blink('Windows NT 10.0; Win64; x64', version)} Edg/${version}`),
    ...phones.flatMap((system) => chromiums.map((version) => blink(system, version, 'Mobile '))),
    ...desktops
      .slice(0, 3)
      .flatMap((system) =>
        geckos.map((version) => `Mozilla/5.0 (${system}; rv:${version}) Gecko/20100101 Firefox/${version}`),
      ),
    ...geckos.map((version) => `Mozilla/5.0 (Android 14; Mobile; rv:${version}) Gecko/${version} Firefox/${version}`),
    ...appleSystems.flatMap((system) => ['iPhone', 'iPad'].map((device) => safari(device, system))),
    ...['16.6', '17.6', '18.5'].map(
      (version) =>
        `Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/${version} Safari/605.1.15`,
    ),
    ...programs,
  ],
};

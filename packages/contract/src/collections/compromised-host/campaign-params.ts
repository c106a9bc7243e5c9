import { type TObject, Type } from 'typebox';
import { OneOf, optional, StrictObject } from '../../schema.ts';
import type { CampaignStep } from './campaign.ts';

const params = (members: Parameters<typeof Type.Object>[0]) => StrictObject(members);
const whole = (value: number, [minimum, maximum]: readonly [number, number], description: string) =>
  Type.Integer({ default: value, minimum, maximum, description });
const record = (description: string) => optional.integer([1, Number.MAX_SAFE_INTEGER], description);
const domain = Type.String({
  default: 'c2.example.test',
  pattern: '^([a-z0-9]([a-z0-9-]*[a-z0-9])?\\.)*(test|example|invalid)$',
  maxLength: 120,
  description: 'In a reserved domain',
});
const qtype = OneOf(['A', 'AAAA', 'TXT', 'MX', 'CNAME'], { default: 'A' });
const bytes = whole(1024, [1, 8_388_608], 'Bytes in all');
const intervalMs = whole(0, [0, 3_600_000], 'Between one time and the next');
const pattern = OneOf(['random', 'text', 'credit-card-like'], {
  default: 'random',
  description: 'What the data is like',
});
const portsText = (value: string, description: string) =>
  Type.String({
    default: value,
    pattern: `^${value === '' ? '(' : ''}[0-9]{1,5}(-[0-9]{1,5})?(,[0-9]{1,5}(-[0-9]{1,5})?)*${value === '' ? ')?' : ''}$`,
    maxLength: 255,
    description,
  });
const ports = portsText('80', 'Ports and ranges of them');
/** Of connections that are opened to see whether a port is open. */
const scanned = {
  open: portsText('', 'Ports that the servers listen on, all others are closed; 22, 80, 443 and 445 unless said'),
  timeoutMs: whole(1000, [50, 60_000], 'How long an answer is waited for'),
};

const lookup = params({
  count: whole(1, [1, 1000], 'Names asked for'),
  domain,
  domains: Type.Array(domain, {
    default: [],
    maxItems: 64,
    description: 'Names are spread over these instead: with test, example and invalid each is a domain of its own',
  }),
  labelLength: whole(12, [1, 60], 'Letters of the made up part'),
  seed: whole(1, [0, 2 ** 31], 'Same seed, same names'),
  qtype,
});
const inNames = params({
  bytes: whole(1024, [1, 65_536], 'Bytes in all'),
  chunk: whole(30, [1, 100], 'Bytes in a name'),
  encoding: OneOf(['base32', 'hex'], { default: 'base32' }),
  domain,
});
/** Clients whose TLS is imitated, as far as OpenSSL can be told. */
export const tlsProfiles = ['default', 'browser', 'windows', 'go', 'java', 'old-implant'] as const;

const beaconMembers = {
  intervalMs,
  uriPattern: Type.String({ default: '/', pattern: '^/[!-~]*$', maxLength: 512, description: '{{n}} is the count' }),
  userAgent: Type.String({ default: 'Mozilla/5.0', maxLength: 255, pattern: '^[ -~]*$' }),
  method: OneOf(['GET', 'POST', 'PUT'], { default: 'GET' }),
  bodyBytes: whole(0, [0, 1_048_576], 'Bytes of the body'),
  headers: Type.Array(
    params({
      name: Type.String({ pattern: '^[A-Za-z0-9-]{1,64}$' }),
      value: Type.String({ pattern: '^[ -~]*$', maxLength: 1024 }),
    }),
    {
      default: [],
      maxItems: 32,
    },
  ),
  sni: domain,
};
const beacon = params(beaconMembers);
const secureBeacon = params({
  ...beaconMembers,
  tlsProfile: OneOf(tlsProfiles, { default: 'default', description: 'Whose first message of TLS is imitated' }),
});
const plainBeacon = params({ intervalMs, bytes: whole(64, [1, 1400], 'Bytes of a message') });
const leak = params({ bytes, chunkBytes: whole(65_536, [64, 1_048_576], 'Bytes in one go'), pattern });

/** Parameters of each action. */
export const campaignParams: Readonly<Record<CampaignStep['action'], TObject>> = {
  'dns-query': lookup,
  'dga-lookup': lookup,
  'dns-tunnel': inNames,
  'dns-exfil': inNames,
  'http-beacon': beacon,
  'https-beacon': secureBeacon,
  'tcp-beacon': plainBeacon,
  'icmp-beacon': plainBeacon,
  'nonstandard-port': params({
    protocol: OneOf(['http', 'tcp'], { default: 'http' }),
    port: whole(8088, [1, 65_535], 'Where it should not be'),
  }),
  'doh-query': params({ count: whole(1, [1, 1000], 'Names asked for'), domain }),
  'file-download': params({
    sampleKind: OneOf(['eicar', 'gtube', 'entropy'], { default: 'eicar', description: 'An inert test file' }),
    container: OneOf(['none', 'zip', 'tar.gz'], { default: 'none' }),
    fileID: record('A sample that is released, instead of a test file'),
  }),
  'http-exfil': leak,
  'smtp-exfil': leak,
  'ftp-exfil': leak,
  'chunked-exfil': params({
    bytes,
    chunkBytes: whole(1024, [64, 65_536], 'Bytes in one go'),
    spacingMs: whole(100, [0, 60_000], 'Between one part and the next'),
  }),
  'port-scan': params({
    ports,
    ...scanned,
    rate: whole(10, [1, 1000], 'Ports a second'),
    hosts: whole(1, [1, 256], 'Addresses of the servers, each with all ports'),
  }),
  'service-probe': params({ ports }),
  'host-sweep': params({
    count: whole(4, [1, 256], 'Addresses of the servers'),
    ports: portsText('', 'Ports of each address; the one of the step unless said'),
    ...scanned,
    rate: whole(50, [1, 1000], 'Ports a second'),
  }),
  'login-spray': params({
    protocol: OneOf(['ftp', 'pop3', 'imap', 'smtp'], { default: 'ftp' }),
    attempts: whole(10, [1, 1000], 'Accounts that are tried; the server always refuses'),
    dictionaryId: record('Accounts, or account:password; made up ones unless said'),
  }),
  'smb-probe': params({
    shares: Type.Array(Type.String({ pattern: '^[A-Za-z0-9$_-]{1,64}$' }), {
      default: ['IPC$'],
      minItems: 1,
      maxItems: 32,
    }),
  }),
  'encoded-channel': params({ encoding: OneOf(['base64', 'hex', 'base32'], { default: 'base64' }) }),
  'proxy-connect': params({ viaServerAgent: Type.Boolean({ default: true }) }),
  wait: params({ ms: whole(1000, [0, 3_600_000], 'How long') }),
};

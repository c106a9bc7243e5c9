import { createHmac } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { request as requestPlain } from 'node:http';
import { request as requestTls } from 'node:https';
import { BlockList, isIPv6 } from 'node:net';

export interface Call {
  readonly url: string;
  /** Empty: the call is not signed. */
  readonly secret: string;
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly allowPrivate: boolean;
  /** Seconds since 1970. */
  readonly timestamp: number;
}

const timeoutMs = 10_000;

const blocked = new BlockList();
const linkLocal = new BlockList();
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['10.0.0.0', 8],
  ['100.64.0.0', 10],
  ['127.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['224.0.0.0', 3],
] as const) {
  blocked.addSubnet(network, prefix, 'ipv4');
}
for (const [network, prefix] of [
  ['::', 127],
  ['fc00::', 7],
  ['ff00::', 8],
] as const) {
  blocked.addSubnet(network, prefix, 'ipv6');
}
linkLocal.addSubnet('169.254.0.0', 16, 'ipv4');
linkLocal.addSubnet('fe80::', 10, 'ipv6');

/** Why a call to the address is not made; undefined: it may be made. */
export const refusalOf = (address: string, allowPrivate: boolean): string | undefined => {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  const family = isIPv6(plain) ? 'ipv6' : 'ipv4';
  if (linkLocal.check(plain, family)) return `${plain} is a link-local address`;
  if (!allowPrivate && blocked.check(plain, family)) {
    return `${plain} is a private address: the setting delivery.allowPrivateTargets permits it`;
  }
  return undefined;
};

/** What receivers verify: `sha256=` and the HMAC of the time stamp, a full stop and the body. */
export const signatureOf = ({ secret, timestamp, body }: Pick<Call, 'secret' | 'timestamp' | 'body'>): string =>
  `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex')}`;

/** Posts the body. Redirects are not followed; any status but 2xx throws. */
export const callWebhook = async (call: Call): Promise<void> => {
  const headers = {
    'content-type': 'application/json',
    'x-rushhour-timestamp': String(call.timestamp),
    ...(call.secret !== '' && { 'x-rushhour-signature': signatureOf(call) }),
    ...call.headers,
  };
  const status = await postChecked({ ...call, body: Buffer.from(call.body), headers });
  if (status < 200 || status > 299) throw new Error(`answered with status ${status}`);
};

interface Post extends Pick<Call, 'url' | 'headers' | 'allowPrivate'> {
  readonly body: Buffer;
}

/** Posts to an address that may be called, and resolves with the status of the answer. */
export const postChecked = async (call: Post): Promise<number> => {
  const url = new URL(call.url);
  // The address that was checked is the one that is called.
  const { address, family } = await lookup(url.hostname.replace(/^\[|\]$/g, ''));
  const refusal = refusalOf(address, call.allowPrivate);
  if (refusal !== undefined) throw new Error(refusal);
  return post(url, call, { address, family });
};

const post = (url: URL, call: Post, resolved: { address: string; family: number }): Promise<number> =>
  new Promise((resolve, reject) => {
    const request = url.protocol === 'https:' ? requestTls : requestPlain;
    const sent = request(url, {
      method: 'POST',
      signal: AbortSignal.timeout(timeoutMs),
      lookup: (_host, options, done) =>
        options.all ? done(null, [resolved]) : done(null, resolved.address, resolved.family),
      headers: {
        'content-length': call.body.length,
        ...call.headers,
      },
    });
    sent.on('response', (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on('error', (error) => reject(error.name === 'AbortError' ? new Error('no answer within 10 s') : error));
    sent.end(call.body);
  });

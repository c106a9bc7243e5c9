import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttackListen, Attempt, IcmpExchange } from '@rushhour/protocol';
import { type Echo, EchoSocket } from '../../../net/icmp/echo-socket.ts';
import {
  type AttackListener,
  type AttackRoute,
  type ClientScene,
  type ClientSight,
  nothingSeen,
  type ProtocolDriver,
  type ServerScene,
} from '../driver.ts';
import { hashOfBytes, joinedHash, proofOf, sha256Of } from '../proof.ts';

const proofMark = 'proof ';

const versionOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4);

/** Both ends know it, so that echoes of others are none of their business. */
const identifierOf = (runToken: string): number => Number.parseInt(hash('sha256', runToken).slice(0, 4), 16);

/** The kernel answers an echo with what it says; our server answers, too, and signs it. */
const signed = (proofKey: string, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from(proofOf(proofKey, sha256Of(payload))), payload]);

interface Heard {
  readonly answer: Buffer | undefined;
  readonly own: string;
  readonly refusal: string | undefined;
  readonly ttfbMs: number;
}

interface Said {
  readonly payload: Buffer;
  readonly sequence: number;
}

/** Says one thing and waits for the signed answer; what only comes back is kept in case nothing better does. */
const ask = async ({ payload, sequence }: Said, route: AttackRoute, scene: ClientScene): Promise<Heard> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const identifier = identifierOf(scene.runToken);
  const wanted = signed(scene.proofKey, payload);
  const startedAt = performance.now();
  let heard: Heard = { answer: undefined, own: '', refusal: undefined, ttfbMs: 0 };
  const onEcho = (echo: Echo) => {
    if (echo.identifier !== identifier || echo.sequence !== sequence) return;
    heard = { ...heard, answer: echo.payload, own: echo.own, ttfbMs: performance.now() - startedAt };
    if (echo.payload.equals(wanted)) resolve();
  };
  const onRefused = (refused: number, refusal: string) => {
    if (refused !== sequence) return;
    heard = { ...heard, refusal };
    resolve();
  };
  const version = versionOf(route.address);
  const socket = new EchoSocket({ version, hears: 'reply', sourceAddress: route.localAddress }, { onEcho, onRefused });
  const timer = setTimeout(resolve, route.timeoutMs);
  scene.signal.addEventListener('abort', () => resolve(), { once: true });
  socket.send(route.address, 'request', { identifier, sequence, payload });
  await promise;
  clearTimeout(timer);
  socket.close();
  return heard;
};

const isSigned = ({ proofKey }: ClientScene, payload: Buffer, answer: Buffer | undefined) =>
  answer?.equals(signed(proofKey, payload)) === true;

/** What came back without a signature is what the kernel or somebody on the way says: no answer of ours. */
const endOf = (heard: readonly Heard[], isOurs: boolean): ClientSight['end'] => {
  if (isOurs) return 'response';
  return heard.some(({ refusal }) => refusal !== undefined) ? 'none' : 'timeout';
};

const attemptIcmp = async (attempt: Attempt, route: AttackRoute, scene: ClientScene): Promise<ClientSight> => {
  const { content, count, intervalMs } = attempt.exchange as IcmpExchange;
  const payload = scene.bytesOf(content);
  const heard: Heard[] = [];
  for (let turn = 0; turn < count && !scene.signal.aborted; turn++) {
    if (turn > 0 && intervalMs > 0) await sleep(intervalMs);
    heard.push(await ask({ payload, sequence: (attempt.id + turn) & 0xffff }, route, scene));
  }
  const isOurs = heard.length === count && heard.every(({ answer }) => isSigned(scene, payload, answer));
  const isRefused = heard.some(({ refusal }) => refusal !== undefined);
  return {
    ...nothingSeen,
    ip: heard.find(({ own }) => own !== '')?.own ?? route.localAddress ?? '',
    connect: isRefused ? 'unreachable' : 'ok',
    isComplete: true,
    sentBytes: payload.length * heard.length,
    sentSha256: joinedHash(heard.map(() => hashOfBytes(payload))),
    end: endOf(heard, isOurs),
    rxBytes: isOurs ? heard.reduce((sum, { answer }) => sum + (answer?.length ?? 0), 0) : 0,
    rxSha256: isOurs ? joinedHash(heard.map(({ answer = Buffer.alloc(0) }) => hashOfBytes(answer))) : '',
    responseIsOurs: isOurs,
    ttfbMs: heard[0]?.ttfbMs ?? 0,
  };
};

/** Looks at every echo that is meant for this entry, tells of it and answers it signed. */
const listenIcmp = async (place: AttackListen, scene: ServerScene): Promise<AttackListener> => {
  const attempts = scene.attemptsOf(place.service).filter(({ exchange }) => exchange.protocol === 'icmp');
  const identifier = identifierOf(scene.runToken);
  const contentOf = ({ exchange }: Attempt) => scene.bytesOf((exchange as IcmpExchange).content);
  const sockets: EchoSocket[] = [];
  const reply = (echo: Echo, payload: Buffer) => {
    sockets[0]?.send(echo.peer, 'reply', { identifier: echo.identifier, sequence: echo.sequence, payload });
    return payload;
  };
  const onEcho = (echo: Echo) => {
    const nonce = echo.payload.toString('latin1', 0, proofMark.length) === proofMark ? echo.payload : undefined;
    if (nonce !== undefined) {
      reply(echo, signed(scene.proofKey, nonce));
      return;
    }
    if (echo.identifier !== identifier) return;
    const found = attempts.find(
      ({ id, exchange }) => ((echo.sequence - id) & 0xffff) < (exchange as IcmpExchange).count,
    );
    const isWhole = found !== undefined && contentOf(found).equals(echo.payload);
    const sent = reply(echo, signed(scene.proofKey, echo.payload));
    scene.record({
      attempt: found?.id ?? null,
      step: found === undefined ? 0 : (echo.sequence - found.id) & 0xffff,
      correlation: found === undefined ? 'none' : 'token',
      ...{ ip: echo.own, port: 0, peerIp: echo.peer, peerPort: 0 },
      seen: isWhole ? 'full' : 'modified',
      ...{ rxBytes: echo.payload.length, rxSha256: hashOfBytes(echo.payload) },
      ...{ sentBytes: sent.length, sentSha256: hashOfBytes(sent), end: 'none' },
      atMs: scene.elapsedMs(),
    });
  };
  const isAny = place.host === '0.0.0.0' || place.host === '::';
  const sourceAddress = isAny ? undefined : place.host;
  const wish = { version: versionOf(place.host), hears: 'request', sourceAddress } as const;
  sockets.push(new EchoSocket(wish, { onEcho, onRefused: () => {} }));
  return { close: async () => sockets[0]?.close() };
};

/** Echo requests that carry something, and a server that proves to have got them. */
export const icmpDriver: ProtocolDriver = {
  protocols: ['icmp'],
  attempt: attemptIcmp,
  async prove(nonce, route, scene) {
    const payload = Buffer.from(proofMark + nonce);
    const sequence = Number.parseInt(nonce.slice(0, 4), 16);
    const { answer, own, refusal } = await ask({ payload, sequence }, route, scene);
    const isGood = isSigned(scene, payload, answer);
    const detail = answer === undefined ? (refusal ?? 'no echo came back') : 'what came back is not signed';
    return { ip: own, isGood, detail: isGood ? '' : detail };
  },
  listen: listenIcmp,
};

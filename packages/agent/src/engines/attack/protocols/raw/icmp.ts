import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { AttackListen, Attempt, IcmpExchange } from '@rushhour/protocol';
import { type Echo, EchoSocket } from '../../../../net/icmp/echo-socket.ts';
import {
  type AttackListener,
  type AttackRoute,
  type ClientContext,
  type ClientOutcome,
  noOutcome,
  type ProtocolDriver,
  type ServerContext,
} from '../../driver.ts';
import { hashOfBytes, joinedHash, proofOf, sha256Of } from '../../proof.ts';

const proofMark = 'proof ';

const versionOf = (address: string): 4 | 6 => (address.includes(':') ? 6 : 4);

/** ICMP identifier derived from the run token; echoes with other identifiers are ignored. */
const identifierOf = (runToken: string): number => Number.parseInt(hash('sha256', runToken).slice(0, 4), 16);

/** The kernel also answers echo requests; our server signs its own answer. */
const signed = (proofKey: string, payload: Buffer): Buffer =>
  Buffer.concat([Buffer.from(proofOf(proofKey, sha256Of(payload))), payload]);

interface EchoResult {
  readonly answer: Buffer | undefined;
  readonly own: string;
  readonly refusal: string | undefined;
  readonly ttfbMs: number;
}

interface EchoRequest {
  readonly payload: Buffer;
  readonly sequence: number;
}

/** Sends an echo request and waits for the signed reply; an unsigned reply is kept as a fallback. */
const ask = async (
  { payload, sequence }: EchoRequest,
  route: AttackRoute,
  context: ClientContext,
): Promise<EchoResult> => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const identifier = identifierOf(context.runToken);
  const wanted = signed(context.proofKey, payload);
  const startedAt = performance.now();
  let echoes: EchoResult = { answer: undefined, own: '', refusal: undefined, ttfbMs: 0 };
  const onEcho = (echo: Echo) => {
    if (echo.identifier !== identifier || echo.sequence !== sequence) return;
    echoes = { ...echoes, answer: echo.payload, own: echo.own, ttfbMs: performance.now() - startedAt };
    if (echo.payload.equals(wanted)) resolve();
  };
  const onRefused = (refused: number, refusal: string) => {
    if (refused !== sequence) return;
    echoes = { ...echoes, refusal };
    resolve();
  };
  const version = versionOf(route.address);
  const socket = new EchoSocket(
    { version, receives: 'reply', sourceAddress: route.localAddress },
    { onEcho, onRefused },
  );
  const timer = setTimeout(resolve, route.timeoutMs);
  context.signal.addEventListener('abort', () => resolve(), { once: true });
  socket.send(route.address, 'request', { identifier, sequence, payload });
  await promise;
  clearTimeout(timer);
  socket.close();
  return echoes;
};

const isSigned = ({ proofKey }: ClientContext, payload: Buffer, answer: Buffer | undefined) =>
  answer?.equals(signed(proofKey, payload)) === true;

/** Unsigned replies come from the kernel or from a device: they do not count as ours. */
const endOf = (echoes: readonly EchoResult[], isOurs: boolean): ClientOutcome['end'] => {
  if (isOurs) return 'response';
  return echoes.some(({ refusal }) => refusal !== undefined) ? 'none' : 'timeout';
};

const attemptIcmp = async (attempt: Attempt, route: AttackRoute, context: ClientContext): Promise<ClientOutcome> => {
  const { content, count, intervalMs } = attempt.exchange as IcmpExchange;
  const payload = context.bytesOf(content);
  const echoes: EchoResult[] = [];
  for (let index = 0; index < count && !context.signal.aborted; index++) {
    if (index > 0 && intervalMs > 0) await sleep(intervalMs);
    echoes.push(await ask({ payload, sequence: (attempt.id + index) & 0xffff }, route, context));
  }
  const isOurs = echoes.length === count && echoes.every(({ answer }) => isSigned(context, payload, answer));
  const isRefused = echoes.some(({ refusal }) => refusal !== undefined);
  return {
    ...noOutcome,
    ip: echoes.find(({ own }) => own !== '')?.own ?? route.localAddress ?? '',
    connect: isRefused ? 'unreachable' : 'ok',
    isComplete: true,
    sentBytes: payload.length * echoes.length,
    sentSha256: joinedHash(echoes.map(() => hashOfBytes(payload))),
    end: endOf(echoes, isOurs),
    rxBytes: isOurs ? echoes.reduce((sum, { answer }) => sum + (answer?.length ?? 0), 0) : 0,
    rxSha256: isOurs ? joinedHash(echoes.map(({ answer = Buffer.alloc(0) }) => hashOfBytes(answer))) : '',
    responseIsOurs: isOurs,
    ttfbMs: echoes[0]?.ttfbMs ?? 0,
  };
};

/** Reports every echo request of this entry and answers it with a signature. */
const listenIcmp = async (endpoint: AttackListen, context: ServerContext): Promise<AttackListener> => {
  const attempts = context.attemptsOf(endpoint.service).filter(({ exchange }) => exchange.protocol === 'icmp');
  const identifier = identifierOf(context.runToken);
  const contentOf = ({ exchange }: Attempt) => context.bytesOf((exchange as IcmpExchange).content);
  const sockets: EchoSocket[] = [];
  const reply = (echo: Echo, payload: Buffer) => {
    sockets[0]?.send(echo.peer, 'reply', { identifier: echo.identifier, sequence: echo.sequence, payload });
    return payload;
  };
  const onEcho = (echo: Echo) => {
    const nonce = echo.payload.toString('latin1', 0, proofMark.length) === proofMark ? echo.payload : undefined;
    if (nonce !== undefined) {
      reply(echo, signed(context.proofKey, nonce));
      return;
    }
    if (echo.identifier !== identifier) return;
    const found = attempts.find(
      ({ id, exchange }) => ((echo.sequence - id) & 0xffff) < (exchange as IcmpExchange).count,
    );
    const isWhole = found !== undefined && contentOf(found).equals(echo.payload);
    const sent = reply(echo, signed(context.proofKey, echo.payload));
    context.record({
      attempt: found?.id ?? null,
      step: found === undefined ? 0 : (echo.sequence - found.id) & 0xffff,
      correlation: found === undefined ? 'none' : 'token',
      ...{ ip: echo.own, port: 0, peerIp: echo.peer, peerPort: 0 },
      seen: isWhole ? 'full' : 'modified',
      ...{ rxBytes: echo.payload.length, rxSha256: hashOfBytes(echo.payload) },
      ...{ sentBytes: sent.length, sentSha256: hashOfBytes(sent), end: 'none' },
      atMs: context.elapsedMs(),
    });
  };
  const isAny = endpoint.host === '0.0.0.0' || endpoint.host === '::';
  const sourceAddress = isAny ? undefined : endpoint.host;
  const options = { version: versionOf(endpoint.host), receives: 'request', sourceAddress } as const;
  sockets.push(new EchoSocket(options, { onEcho, onRefused: () => {} }));
  return { close: async () => sockets[0]?.close() };
};

/** Echo requests with payload, and a server that proves their arrival. */
export const icmpDriver: ProtocolDriver = {
  protocols: ['icmp'],
  attempt: attemptIcmp,
  async prove(nonce, route, context) {
    const payload = Buffer.from(proofMark + nonce);
    const sequence = Number.parseInt(nonce.slice(0, 4), 16);
    const { answer, own, refusal } = await ask({ payload, sequence }, route, context);
    const isGood = isSigned(context, payload, answer);
    const detail = answer === undefined ? (refusal ?? 'no echo reply') : 'the reply is not signed';
    return { ip: own, isGood, detail: isGood ? '' : detail };
  },
  listen: listenIcmp,
};

import type { AttackListen, Attempt, RawExchange } from '@rushhour/protocol';
import { bindAll, closeSockets } from '../../../../net/datagram/bind-all.ts';
import type { ServedSocket } from '../../../../net/secure-sockets.ts';
import type { AttackListener, ServerContext, ServerOutcome } from '../../driver.ts';
import { hashOfBytes } from '../../proof.ts';
import { listenConnections, plainIp } from '../listen-connections.ts';
import { nonceIn, proofAnswer, type RawScript, scriptOf } from './raw-form.ts';

/** Delay before unknown bytes are answered. */
const unknownReplyMs = 300;
const unknownReply = Buffer.from('?\n');

interface ExpectedAttempt {
  readonly attempt: Attempt;
  readonly script: RawScript;
  /** All bytes of the client, concatenated. */
  readonly whole: Buffer;
  isSeen: boolean;
}

const knownOf = (endpoint: AttackListen, context: ServerContext): ExpectedAttempt[] =>
  context.attemptsOf(endpoint.service).flatMap((attempt) => {
    if (attempt.exchange.protocol !== 'raw') return [];
    const script = scriptOf(attempt.id, attempt.exchange as RawExchange, context);
    return [{ attempt, script, whole: Buffer.concat(script.sends.map(({ bytes }) => bytes)), isSeen: false }];
  });

const isAlike = (bytes: Buffer, whole: Buffer): boolean => {
  const length = Math.min(bytes.length, whole.length);
  return bytes.subarray(0, length).equals(whole.subarray(0, length));
};

interface Expected {
  readonly all: readonly ExpectedAttempt[];
  readonly greeting: Buffer;
}

/** What all attempts of a port expect to be greeted with: who connects is not known yet. */
const greetingOf = ([first, ...others]: readonly ExpectedAttempt[]): Buffer => {
  const greeting = first?.script.greeting ?? Buffer.alloc(0);
  return others.every(({ script }) => script.greeting.equals(greeting)) ? greeting : Buffer.alloc(0);
};

/** A server connection that compares the received bytes with all expected attempts. */
class RawConnection {
  readonly #socket: ServedSocket;
  readonly #context: ServerContext;
  readonly #all: readonly ExpectedAttempt[];
  readonly #ends: Pick<ServerOutcome, 'ip' | 'port' | 'peerIp' | 'peerPort'>;
  #known: ExpectedAttempt | undefined;
  #received = Buffer.alloc(0);
  #sent: Buffer[] = [];
  #answered = 0;
  #isReported = false;
  #end: ServerOutcome['end'] = 'none';
  #timer: NodeJS.Timeout | undefined;

  constructor(socket: ServedSocket, { all, greeting }: Expected, context: ServerContext) {
    this.#socket = socket;
    this.#context = context;
    this.#all = all;
    this.#ends = {
      ip: socket.localAddress ?? '',
      port: socket.localPort ?? 0,
      peerIp: plainIp(socket.remoteAddress),
      peerPort: socket.remotePort ?? 0,
    };
    if (greeting.length > 0) {
      this.#sent.push(greeting);
      socket.write(greeting);
    }
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('error', () => {
      this.#end = 'reset';
    });
    socket.on('end', () => {
      if (this.#end === 'none') this.#end = 'fin';
      socket.end();
    });
    socket.on('close', () => this.report());
  }

  report(): void {
    clearTimeout(this.#timer);
    if (this.#isReported) return;
    this.#isReported = true;
    const whole = this.#known?.whole;
    const seen = this.#seenAs(whole);
    if (this.#known !== undefined) this.#known.isSeen = true;
    this.#context.record({
      attempt: this.#known?.attempt.id ?? null,
      step: 0,
      correlation: this.#known === undefined ? 'none' : 'content',
      ...this.#ends,
      seen,
      rxBytes: this.#received.length,
      rxSha256: hashOfBytes(this.#received),
      sentBytes: this.#sent.reduce((sum, { length }) => sum + length, 0),
      sentSha256: hashOfBytes(Buffer.concat(this.#sent)),
      end: this.#end,
      atMs: this.#context.elapsedMs(),
    });
  }

  #seenAs(whole: Buffer | undefined): ServerOutcome['seen'] {
    if (this.#received.length === 0) return 'connected';
    if (whole === undefined || !isAlike(this.#received, whole)) return 'modified';
    if (this.#received.length < whole.length) return 'partial';
    return this.#received.length === whole.length ? 'full' : 'modified';
  }

  #take(bytes: Buffer): void {
    clearTimeout(this.#timer);
    this.#received = Buffer.concat([this.#received, bytes]);
    const nonce = nonceIn(this.#received);
    if (nonce !== undefined) {
      this.#isReported = true;
      this.#socket.end(proofAnswer(this.#context, nonce));
      return;
    }
    if (this.#known === undefined || !isAlike(this.#received, this.#known.whole)) {
      const alike = this.#all.filter(
        ({ whole }) => isAlike(this.#received, whole) && whole.length >= this.#received.length,
      );
      this.#known = alike.find(({ isSeen }) => !isSeen) ?? alike[0];
    }
    if (this.#known === undefined) this.#timer = setTimeout(() => this.#answerUnknown(), unknownReplyMs);
    else this.#answer(this.#known);
  }

  #answerUnknown(): void {
    this.#sent.push(unknownReply);
    this.#socket.end(unknownReply);
    this.report();
  }

  #answer({ script, whole }: ExpectedAttempt): void {
    let end = 0;
    for (const [index, { bytes, isAnswered }] of script.sends.entries()) {
      end += bytes.length;
      if (this.#received.length < end) return;
      if (index < this.#answered) continue;
      this.#answered = index + 1;
      const answer = script.answers[index] as Buffer;
      if (!isAnswered) continue;
      this.#sent.push(answer);
      if (end === whole.length) this.#socket.end(answer);
      else this.#socket.write(answer);
    }
    if (this.#received.length >= whole.length) this.report();
  }
}

const listenTcp = (endpoint: AttackListen, context: ServerContext): Promise<AttackListener> => {
  const all = knownOf(endpoint, context);
  const expected = { all, greeting: greetingOf(all) };
  return listenConnections(endpoint, context, (socket) => new RawConnection(socket, expected, context));
};

const listenUdp = async (endpoint: AttackListen, context: ServerContext): Promise<AttackListener> => {
  const open = new Map<string, { attempt: Attempt; step: number; answer: Buffer }[]>();
  for (const { attempt, script } of knownOf(endpoint, context)) {
    for (const [step, { bytes }] of script.sends.entries()) {
      const key = hashOfBytes(bytes);
      open.set(key, [...(open.get(key) ?? []), { attempt, step, answer: script.answers[step] as Buffer }]);
    }
  }
  const sockets = await bindAll([endpoint], { core: { count: 1 }, hostNetwork: context.hostNetwork }, (socket) => {
    socket.on('error', () => {});
    socket.on('message', (bytes, peer) => {
      const nonce = nonceIn(bytes);
      if (nonce !== undefined) {
        socket.send(proofAnswer(context, nonce), peer.port, peer.address);
        return;
      }
      const alike = open.get(hashOfBytes(bytes)) ?? [];
      const known = alike.length > 1 ? alike.shift() : alike[0];
      const answer = known?.answer ?? unknownReply;
      if (answer.length > 0) socket.send(answer, peer.port, peer.address);
      const own = socket.address();
      context.record({
        attempt: known?.attempt.id ?? null,
        step: known?.step ?? 0,
        correlation: known === undefined ? 'none' : 'content',
        ip: own.address,
        port: own.port,
        peerIp: plainIp(peer.address),
        peerPort: peer.port,
        seen: known === undefined ? 'modified' : 'full',
        rxBytes: bytes.length,
        rxSha256: hashOfBytes(bytes),
        sentBytes: answer.length,
        sentSha256: hashOfBytes(answer),
        end: 'none',
        atMs: context.elapsedMs(),
      });
    });
  });
  return { close: () => closeSockets(sockets) };
};

export const listenRaw = (endpoint: AttackListen, context: ServerContext): Promise<AttackListener> =>
  endpoint.transport === 'udp' ? listenUdp(endpoint, context) : listenTcp(endpoint, context);

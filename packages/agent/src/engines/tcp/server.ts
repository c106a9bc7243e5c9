import type { TcpServerConfig } from '@rushhour/protocol';
import type { Counter, EngineContext, Gauge, PreparedEngine, Samples } from '../../engine.ts';
import { createStreamTransport } from '../../net/data-path.ts';
import { DrawnTexts } from '../../net/load/drawn-texts.ts';
import { filledMessages } from '../../net/load/payload.ts';
import { cyclerOf } from '../../net/load/rotation.ts';
import { aborted } from '../../net/loop/aborted.ts';
import { countError } from '../../net/metrics/count-error.ts';
import type { Chunk, Connection, ConnectionEvents, Listener, Message } from '../../net/transport/transport.ts';

interface TcpServerDeps {
  readonly config: TcpServerConfig;
  readonly samples: Samples;
  readonly nextMessage: () => Message;
  readonly drawn: DrawnTexts | undefined;
  readonly meters: {
    readonly accepted: Counter;
    readonly active: Gauge;
    readonly txBytes: Counter;
    readonly rxBytes: Counter;
  };
}

/** One accepted connection. */
class TcpServerConnection implements ConnectionEvents {
  /** Mode source only: sends the next payload. */
  readonly onSent?: () => void;
  readonly #connection: Connection;
  readonly #deps: TcpServerDeps;
  #hasEnded = false;

  constructor(connection: Connection, deps: TcpServerDeps) {
    this.#connection = connection;
    this.#deps = deps;
    deps.meters.accepted.add(1);
    deps.meters.active.add(1);
    if (deps.config.mode !== 'source') return;
    let bytes = this.#sendNext();
    this.onSent = () => {
      deps.meters.txBytes.add(bytes);
      if (!this.#hasEnded) bytes = this.#sendNext();
    };
  }

  /** Sends the next payload and returns its bytes; after the last one of a dictionary the connection is closed. */
  #sendNext(): number {
    const { drawn, nextMessage } = this.#deps;
    if (drawn === undefined) {
      const message = nextMessage();
      this.#connection.write(message);
      return message.bytes.length;
    }
    const text = drawn.next(0);
    if (text === undefined) {
      this.#hasEnded = true;
      this.#connection.close();
      return 0;
    }
    const bytes = Buffer.from(text || '\0');
    this.#connection.writeCopy(bytes);
    return bytes.length;
  }

  onOpen(): void {}

  onData({ bytes, start, end }: Chunk): void {
    const { meters, config } = this.#deps;
    meters.rxBytes.add(end - start);
    if (config.mode !== 'echo') return;
    meters.txBytes.add(end - start);
    this.#connection.writeCopy(bytes.subarray(start, end));
  }

  onEnd(): void {
    this.#hasEnded = true;
    if (this.#deps.config.closeMode === 'rst') this.#connection.reset();
    else this.#connection.close();
  }

  onClose(code: string | undefined): void {
    const { samples, meters } = this.#deps;
    if (code !== undefined) countError(samples, 'tcp', code);
    meters.active.add(-1);
  }
}

const bulkBytes = 1_048_576;

/** Discards, echoes, or sends data continuously. */
export const prepareTcpServer = async (context: EngineContext<TcpServerConfig>): Promise<PreparedEngine> => {
  const { config, samples, signal, note, core, hostNetwork } = context;
  const { noDelay, tuning } = config;
  const options = { noDelay, keepAliveSec: 0, readSize: 'large', closesImmediately: false, tuning } as const;
  const transport = createStreamTransport({ path: config.dataPath, note, hostNetwork }, options);
  const messages = filledMessages(config.payload, bulkBytes);
  const deps = {
    config,
    samples,
    nextMessage: cyclerOf(messages.map((bytes) => transport.prepareMessage(bytes))),
    drawn: config.drawn && new DrawnTexts(config.drawn, 1),
    meters: {
      accepted: samples.counter('tcp.accepted'),
      active: samples.gauge('tcp.active'),
      txBytes: samples.counter('tcp.txBytes'),
      rxBytes: samples.counter('tcp.rxBytes'),
    },
  };
  const listeners: Listener[] = [];
  const close = async () => {
    await Promise.all(listeners.map((listener) => listener.close()));
    await transport.close();
  };
  try {
    for (const listen of config.listen) {
      const where = { ...listen, isShared: core.count > 1 };
      listeners.push(await transport.listen(where, (connection) => new TcpServerConnection(connection, deps)));
    }
  } catch (error) {
    await close();
    throw error;
  }
  return { start: () => aborted(signal), close };
};

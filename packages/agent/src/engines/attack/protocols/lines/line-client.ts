import type { Attempt, FileExchange } from '@rushhour/protocol';
import type { AttackRoute, ClientContext, ClientOutcome, ProofOutcome } from '../../driver.ts';
import { hashOfBytes, proofOf, tokenOf } from '../../proof.ts';
import { ClientConnection } from '../../transport/client-connection.ts';

const lineEnd = Buffer.from('\r\n');
const excerptBytes = 2048;
const comparedBytes = 64;

/** A client of a line-based protocol. Methods resolve to undefined when nothing is received. */
export class LineClient {
  readonly connection: ClientConnection;
  #held = Buffer.alloc(0);

  private constructor(connection: ClientConnection) {
    this.connection = connection;
  }

  static async open(route: AttackRoute, context: ClientContext): Promise<LineClient> {
    return new LineClient(await ClientConnection.open(route, context));
  }

  send(line: string): Promise<boolean> {
    return this.connection.write(Buffer.from(`${line}\r\n`, 'latin1'));
  }

  async line(): Promise<string | undefined> {
    return (await this.until(lineEnd))?.toString('latin1').trimEnd();
  }

  /** Sends a line and resolves to the last line of the reply; earlier lines have a dash after the code. */
  async ask(line: string): Promise<string | undefined> {
    if (!(await this.send(line))) return undefined;
    return this.reply();
  }

  async reply(): Promise<string | undefined> {
    for (;;) {
      const line = await this.line();
      if (line === undefined || !/^\d{3}-/.test(line)) return line;
    }
  }

  /** All bytes up to and including `ending`. */
  async until(ending: Buffer): Promise<Buffer | undefined> {
    for (let from = 0; ; ) {
      const at = this.#held.indexOf(ending, from);
      if (at >= 0) return this.#cut(at + ending.length);
      from = Math.max(0, this.#held.length - ending.length);
      if (!(await this.#more())) return undefined;
    }
  }

  async exactly(length: number): Promise<Buffer | undefined> {
    while (this.#held.length < length) if (!(await this.#more())) return undefined;
    return this.#cut(length);
  }

  async #more(): Promise<boolean> {
    if (!(await this.connection.more())) return false;
    this.#held = Buffer.concat([this.#held, this.connection.take()]);
    return true;
  }

  #cut(length: number): Buffer {
    const cut = Buffer.from(this.#held.subarray(0, length));
    this.#held = this.#held.subarray(length);
    return cut;
  }
}

/** Token and proof of an attempt. */
export const marksOf = (
  { id }: Pick<Attempt, 'id'>,
  { runToken, proofKey }: Pick<ClientContext, 'runToken' | 'proofKey'>,
) => {
  const token = tokenOf(runToken, id);
  return { token, proof: proofOf(proofKey, token) };
};

/** Result of a transfer. */
export interface TransferResult {
  readonly client: LineClient;
  readonly content: Buffer;
  readonly exchange: FileExchange;
  readonly proof: string;
  /** Everything was sent. */
  readonly isComplete: boolean;
  /** The last reply, if any; for a download, the reply received instead of the file. */
  readonly reply: string | undefined;
  /** Downloads only. */
  readonly received?: Buffer | undefined;
}

const statusIn = (reply: string | undefined) => Number(/^(\d{3})/.exec(reply ?? '')?.[1] ?? 0);

const isAlike = (received: Buffer, content: Buffer) => {
  const length = Math.min(received.length, content.length, comparedBytes);
  return received.length > 0 && received.subarray(0, length).equals(content.subarray(0, length));
};

const downloadOutcome = ({ content, exchange, isComplete, reply, received, client }: TransferResult) => {
  const isThere = received !== undefined;
  const foreign = isThere ? received : Buffer.from(reply ?? '', 'latin1');
  return {
    isComplete,
    sentBytes: Buffer.byteLength(exchange.name),
    sentSha256: hashOfBytes(Buffer.from(exchange.name)),
    end: isThere || reply !== undefined ? ('response' as const) : client.connection.end,
    rxBytes: foreign.length,
    rxSha256: hashOfBytes(foreign),
    responseIsOurs: isThere && isAlike(received, content),
    excerpt: isThere && received.equals(content) ? undefined : foreign.toString('base64', 0, excerptBytes),
  };
};

const uploadOutcome = ({ content, isComplete, reply, proof, client }: TransferResult) => {
  const text = Buffer.from(reply ?? '', 'latin1');
  const isOurs = reply?.includes(proof) ?? false;
  return {
    isComplete,
    sentBytes: isComplete ? content.length : 0,
    sentSha256: hashOfBytes(content),
    end: reply === undefined ? client.connection.end : ('response' as const),
    rxBytes: text.length,
    rxSha256: hashOfBytes(text),
    responseIsOurs: isOurs,
    excerpt: isOurs ? undefined : text.toString('base64', 0, excerptBytes),
  };
};

/** Outcome of a transfer as seen by the client. */
export const outcomeOf = (transferred: TransferResult): ClientOutcome => {
  const { ip, port, connect, ttfbMs, ownError } = transferred.client.connection;
  const { excerpt, ...outcome } =
    transferred.exchange.direction === 'up' ? uploadOutcome(transferred) : downloadOutcome(transferred);
  transferred.client.connection.close();
  return {
    ...{ ip, port, connect, ttfbMs },
    ...outcome,
    status: statusIn(transferred.reply),
    ...(ownError !== undefined && { error: ownError }),
    ...(excerpt !== undefined && excerpt !== '' && { excerpt }),
  };
};

/** Closes the connection; the proof is good when the reply contains it. */
export const proofOutcome = ({ connection }: LineClient, reply: string | undefined, proof: string): ProofOutcome => {
  const isGood = reply?.includes(proof) ?? false;
  connection.close();
  return { ip: connection.ip, isGood, detail: isGood ? '' : (reply ?? connection.end) };
};

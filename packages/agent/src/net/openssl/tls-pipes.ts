import { mapMemory } from '../kernel/memory.ts';
import { requireOpenssl } from './library.ts';

const control = { reset: 1, getMemory: 115, setEndResult: 130 } as const;
/** BIO_FLAGS_NONCLEAR_RST: a reset keeps the memory. */
const keepsMemory = 0x400;
const outputBytes = 1 << 20;
export const plainBytes = 65_536;
/** The plain text of one record. */
const maxGathered = 16_384;
const two32 = 4_294_967_296;
/** Words of BUF_MEM, a public structure: length, address and size of 64 bits each. */
const word = { length: 0, address: 2, size: 4 } as const;

/**
 * The input and the output of all sessions of a thread. Sessions use them one at a time: input is set before a call
 * into OpenSSL, output is taken after it. Input is never copied, and neither costs a call to look at.
 */
export class TlsPipes {
  readonly #openssl = requireOpenssl();
  readonly input: number;
  readonly output: number;
  /** What a session has decrypted. */
  readonly plain = mapMemory({ length: plainBytes });
  readonly plainAddress = this.plain.addressOf(0, plainBytes);
  readonly #inputWords: Uint32Array;
  readonly #outputWords: Uint32Array;
  /** For received bytes that are not in mapped memory. */
  readonly #copies = mapMemory({ length: plainBytes });
  /** For bytes to encrypt that are not in mapped memory. */
  readonly #toEncrypt = mapMemory({ length: plainBytes });
  /** Small writes of one session, while it handles what has arrived: they become one record. */
  readonly #gathered = mapMemory({ length: plainBytes });
  #gatherer: object | undefined;
  #gatheredLength = 0;
  #outputAddress = 0;
  #outputView = new Uint8Array(0);

  constructor() {
    const openssl = this.#openssl;
    const bytes = mapMemory({ length: outputBytes });
    const address = bytes.addressOf(0, outputBytes);
    this.input = openssl.BIO_new_mem_buf(address, 1);
    openssl.BIO_ctrl(this.input, control.setEndResult, -1, 0);
    this.#inputWords = this.#wordsOf(this.input);
    this.setInput(0, 0);
    this.output = openssl.BIO_new(openssl.BIO_s_mem());
    openssl.BIO_set_flags(this.output, keepsMemory);
    // Grown once, so that it does not grow while it is used.
    openssl.BIO_write(this.output, address, outputBytes);
    this.#outputWords = this.#wordsOf(this.output);
    this.clearOutput();
    bytes.release();
  }

  get inputLength(): number {
    return this.#inputWords[word.length] as number;
  }

  get outputLength(): number {
    return this.#outputWords[word.length] as number;
  }

  setInput(address: number, length: number): void {
    const words = this.#inputWords;
    words[word.length] = length;
    words[word.address] = address;
    words[word.address + 1] = address / two32;
    words[word.size] = length;
  }

  /** Where the rest of the input is. */
  get inputAddress(): number {
    const words = this.#inputWords;
    return (words[word.address] as number) + (words[word.address + 1] as number) * two32;
  }

  /** Copies received bytes, at most `plainBytes`; returns their address. */
  copy(bytes: Uint8Array, start: number, end: number): number {
    this.#copies.bytes.set(bytes.subarray(start, end));
    return this.#copies.addressOf(0, end - start);
  }

  /** Copies bytes to encrypt, at most `plainBytes`; returns their address. */
  copyPlain(bytes: Uint8Array, start: number, end: number): number {
    this.#toEncrypt.bytes.set(bytes.subarray(start, end));
    return this.#toEncrypt.addressOf(0, end - start);
  }

  /** Begins to gather the writes of a session; false while those of another are gathered. */
  beginGathering(session: object): boolean {
    if (this.#gatherer !== undefined) return false;
    this.#gatherer = session;
    return true;
  }

  /** Keeps bytes for later; false if they have to be sent at once, after what is kept. */
  gather(session: object, bytes: Uint8Array): boolean {
    if (this.#gatherer !== session || this.#gatheredLength + bytes.length > maxGathered) return false;
    this.#gathered.bytes.set(bytes, this.#gatheredLength);
    this.#gatheredLength += bytes.length;
    return true;
  }

  /** What is kept of a session is no longer kept; returns how many bytes it is, from `gatheredAddress` on. */
  takeGathered(session: object): number {
    if (this.#gatherer !== session) return 0;
    const length = this.#gatheredLength;
    this.#gatheredLength = 0;
    return length;
  }

  get gatheredAddress(): number {
    return this.#gathered.addressOf(0, plainBytes);
  }

  endGathering(): void {
    this.#gatherer = undefined;
    this.#gatheredLength = 0;
  }

  /** Encrypted bytes to send; valid until the next call into OpenSSL. */
  peekOutput(): Uint8Array {
    const words = this.#outputWords;
    const address = (words[word.address] as number) + (words[word.address + 1] as number) * two32;
    const size = words[word.size] as number;
    if (address !== this.#outputAddress || size > this.#outputView.length) {
      this.#outputAddress = address;
      this.#outputView = new Uint8Array(this.#openssl.view(address, size));
    }
    return this.#outputView.subarray(0, words[word.length]);
  }

  clearOutput(): void {
    this.#outputWords[word.length] = 0;
    this.#openssl.BIO_ctrl(this.output, control.reset, 0, 0);
  }

  #wordsOf(bio: number): Uint32Array {
    const memory = mapMemory({ length: 8 });
    this.#openssl.BIO_ctrl(bio, control.getMemory, 0, memory.addressOf(0, 8));
    const address = Number(memory.bytes.readBigUInt64LE(0));
    memory.release();
    return new Uint32Array(this.#openssl.view(address, 32));
  }
}

let pipes: TlsPipes | undefined;

/** The pipes of this thread; they live as long as it. */
export const tlsPipes = (): TlsPipes => {
  pipes ??= new TlsPipes();
  return pipes;
};

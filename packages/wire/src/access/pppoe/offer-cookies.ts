import { md5 } from '../../bytes/md5.ts';

const secretBytes = 16;

/** Cookies that prove that a request comes from where the offer went; nothing is stored for an offer. */
export class OfferCookies {
  readonly #secret: Uint8Array;

  constructor(random: () => number) {
    this.#secret = Uint8Array.from({ length: secretBytes }, () => Math.floor(random() * 256));
  }

  /** The cookie for who has a key of MAC and VLANs. */
  of(key: Int32Array): Uint8Array {
    const text = new Uint8Array(secretBytes + key.byteLength);
    text.set(this.#secret);
    text.set(new Uint8Array(key.buffer, key.byteOffset, key.byteLength), secretBytes);
    return md5(text);
  }
}

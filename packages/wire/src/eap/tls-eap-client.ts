import type { EapClient, EapStep } from '../ipsec/ike/peer.ts';
import { type EapPacket, eapCode, eapType, readEap, writeEap } from './eap-packet.ts';
import { type EapTls, TlsMethod, tlsEapType } from './tls-method.ts';

const encoder = new TextEncoder();
const keyBytes = 64;
/** Half of it is the key that both sides have afterwards. */
const exportedBytes = 2 * keyBytes;
/** Where keys come from in TLS 1.2 (RFC 5216, 2.3) and in TLS 1.3 (RFC 9190, 2.3). */
const labels = { '1.2': 'client EAP encryption', '1.3': 'EXPORTER_EAP_TLS_Key_Material' } as const;

export interface TlsEapClientOptions {
  readonly identity: string;
  readonly tls: EapTls;
}

const failed = (cause: string): EapStep => ({ kind: 'failed', cause });

const answer = ({ id }: EapPacket, type: number, data: Uint8Array): EapStep => ({
  kind: 'respond',
  packet: writeEap({ code: eapCode.response, id, type, data }),
});

/** The side of EAP-TLS that asks to be let in: its certificate is the proof. */
export class TlsEapClient implements EapClient {
  readonly identity: string;
  readonly #tls: EapTls;
  readonly #method: TlsMethod;

  constructor({ identity, tls }: TlsEapClientOptions) {
    this.identity = identity;
    this.#tls = tls;
    this.#method = new TlsMethod(tlsEapType.tls, tls);
  }

  receive(bytes: Uint8Array): EapStep {
    const packet = readEap(bytes);
    if (packet === undefined) return failed('eapInvalid');
    if (packet.code === eapCode.success) return this.#finish();
    if (packet.code !== eapCode.request) return this.#failure();
    if (packet.type === eapType.identity) return answer(packet, eapType.identity, encoder.encode(this.identity));
    if (packet.type === eapType.notification) return answer(packet, eapType.notification, new Uint8Array(0));
    if (packet.type !== tlsEapType.tls) return answer(packet, eapType.nak, Uint8Array.of(tlsEapType.tls));
    const data = this.#method.answer(packet.data, packet.id);
    return data === undefined ? failed('eapInvalid') : answer(packet, tlsEapType.tls, data);
  }

  close(): void {
    this.#method.close();
  }

  #finish(): EapStep {
    if (!this.#method.isDone) return failed('eapInvalid');
    const { version } = this.#tls;
    const context = version === '1.3' ? Uint8Array.of(tlsEapType.tls) : undefined;
    const key = this.#tls.exportKey(labels[version], exportedBytes, context).slice(0, keyBytes);
    return { kind: 'succeeded', key };
  }

  /** The alert of either side says more than that the server refuses. */
  #failure(): EapStep {
    this.close();
    return failed(this.#tls.cause ?? 'eapFailure');
  }
}

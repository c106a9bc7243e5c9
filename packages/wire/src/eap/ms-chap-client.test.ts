import { describe, expect, it } from 'vitest';
import { msChapSuccess } from '../access/crypto/ms-chap.ts';
import { eapCode, eapType, readEap, writeEap } from './eap-packet.ts';
import { MsChapClient, msChapKey } from './ms-chap-client.ts';

const bytesOf = (hex: string) => Uint8Array.from(hex.match(/../g) ?? [], (byte) => Number.parseInt(byte, 16));
const hexOf = (bytes: Uint8Array) => Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');

// RFC 2759, 9.2 and RFC 3079, 3.5.3
const peerChallenge = bytesOf('21402324255e262a28295f2b3a337c7e');
const authenticatorChallenge = bytesOf('5b5d7c7d7b3f2f3e3c2c602132262628');
const response = bytesOf('82309ecd8d708b5ea08faa3981cd83544233114a3d85d6df');
const user = { identity: 'User', password: 'clientPass', random: () => peerChallenge };

const request = (data: Uint8Array, type: number = eapType.msChapV2) =>
  writeEap({ code: eapCode.request, id: 7, type, data });
const challenge = Uint8Array.of(1, 9, 0, 24, 16, ...authenticatorChallenge, ...new TextEncoder().encode('gw'));
const exchange = { authenticatorChallenge, peerChallenge, userName: 'User', password: 'clientPass' };
const success = Uint8Array.of(3, 9, 0, 0, ...new TextEncoder().encode(`${msChapSuccess(exchange, response)} M=OK`));
const done = writeEap({ code: eapCode.success, id: 8, type: 0, data: new Uint8Array(0) });

describe('EAP-MSCHAPv2 of a client', () => {
  it('has the keys of the RFC', () => {
    expect(hexOf(msChapKey('clientPass', response).subarray(16, 32))).toBe('8b7cdc149b993a1ba118cb153f56dccb');
  });

  it('says who it is, answers the challenge, and takes the key only of a server that knows the password', () => {
    const client = new MsChapClient(user);
    const identity = client.receive(request(new Uint8Array(0), eapType.identity));
    expect(identity.kind === 'respond' && new TextDecoder().decode(readEap(identity.packet)?.data)).toBe('User');
    const answered = client.receive(request(challenge));
    const { data = new Uint8Array(0) } = (answered.kind === 'respond' && readEap(answered.packet)) || {};
    expect(hexOf(data.subarray(29, 53))).toBe(hexOf(response));
    expect(client.receive(done)).toMatchObject({ kind: 'failed' });
    expect(client.receive(request(success))).toMatchObject({ kind: 'respond' });
    expect(client.receive(done)).toMatchObject({ kind: 'succeeded' });
    const deceived = new MsChapClient({ ...user, password: 'another' });
    deceived.receive(request(challenge));
    expect(deceived.receive(request(success))).toEqual({ kind: 'failed', cause: 'eapUntrusted' });
  });

  it('refuses other methods by the one it has, and gives up on a failure', () => {
    const client = new MsChapClient(user);
    const refused = client.receive(request(Uint8Array.of(1, 2, 3), 4));
    expect(refused.kind === 'respond' && readEap(refused.packet)).toMatchObject({ type: eapType.nak });
    expect(client.receive(Uint8Array.of(eapCode.failure, 1, 0, 4))).toEqual({ kind: 'failed', cause: 'eapFailure' });
  });

  it('never fails on a changed or shortened packet', () => {
    for (const packet of [request(challenge), request(success), done]) {
      for (let length = 0; length <= packet.length; length++) {
        const changed = packet.slice(0, length);
        if (length > 0) changed[length - 1] = 0xff;
        expect(new MsChapClient(user).receive(changed).kind).toMatch(/respond|failed/);
      }
    }
  });
});

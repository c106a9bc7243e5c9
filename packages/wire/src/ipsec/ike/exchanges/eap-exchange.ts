import type { IkeSa } from '../ike-sa.ts';
import { sharedKeyAuth } from '../key-schedule.ts';
import { isSameBytes } from '../messages/message.ts';
import { authMethod, exchangeType, notifyName, payloadType } from '../messages/numbers.ts';
import { PayloadSet } from '../messages/payload-set.ts';
import { readAuth, writeAuth } from '../messages/payloads.ts';
import type { EapClient } from '../peer.ts';

/** Packets of EAP after which a server is given up. */
const maxRounds = 50;

export interface EapExchange {
  readonly client: EapClient;
  /** The bytes that one side authenticates. */
  octets(side: 'own' | 'peer'): Uint8Array;
  /** Goes on with the last response, whose AUTH payload is valid. */
  complete(answer: PayloadSet): void;
}

/** Answers the packets of EAP in responses until the server is content, then proves the key that both have by now. */
export const continueEap = (sa: IkeSa, exchange: EapExchange, answer: PayloadSet, rounds = 0): void => {
  const body = answer.find(payloadType.eap);
  if (body === undefined || rounds >= maxRounds) {
    const { error } = answer;
    sa.close(error === undefined ? 'invalidResponse' : notifyName(error.type));
    return;
  }
  const step = exchange.client.receive(body);
  if (step.kind === 'failed') sa.close(step.cause);
  else if (step.kind === 'succeeded') proveKey(sa, exchange, step.key);
  else {
    const payload = { type: payloadType.eap, body: step.packet };
    sa.request(exchangeType.auth, [payload], (reply) => continueEap(sa, exchange, new PayloadSet(reply), rounds + 1));
  }
};

const proveKey = (sa: IkeSa, { octets, complete }: EapExchange, key: Uint8Array): void => {
  const prf = sa.suite?.prf ?? 0;
  const proofOf = (side: 'own' | 'peer') => sharedKeyAuth(sa.crypto, { prf, key, octets: octets(side) });
  sa.request(exchangeType.auth, [writeAuth(authMethod.sharedKey, proofOf('own'))], (reply) => {
    const answer = new PayloadSet(reply);
    const body = answer.find(payloadType.auth);
    if (body === undefined) {
      const { error } = answer;
      sa.close(error === undefined ? 'invalidResponse' : notifyName(error.type));
      return;
    }
    const { method, data } = readAuth(body);
    if (method === authMethod.sharedKey && isSameBytes(data, proofOf('peer'))) complete(answer);
    else sa.close('untrusted');
  });
};

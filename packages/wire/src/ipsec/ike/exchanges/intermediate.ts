import type { IkeSa, Negotiation } from '../ike-sa.ts';
import { isEncapsulation } from '../messages/algorithms.ts';
import {
  concatBytes,
  type HeaderFields,
  type IkeHeader,
  type IkePayload,
  payloadBytes,
  viewOf,
} from '../messages/message.ts';
import { exchangeType, headerFlag, notifyName, notifyType, payloadType } from '../messages/numbers.ts';
import { PayloadSet } from '../messages/payload-set.ts';
import { notify, readKeyExchange, writeKeyExchange } from '../messages/payloads.ts';
import { intermediateOctets, type OpenedMessage } from '../messages/sealed-message.ts';

// The second key exchange (RFC 9370) in an IKE_INTERMEDIATE exchange (RFC 9242) before IKE_AUTH.

const firstMessageId = 1;
const authMessageId = 2;

const textOf = (payloads: readonly IkePayload[]) => ({
  text: payloadBytes(payloads),
  first: payloads[0]?.type ?? payloadType.none,
});

/** The key that one side authenticates itself with covers its message, as it was before it was encrypted. */
const authOf = (sa: IkeSa, isRequest: boolean, message: Pick<OpenedMessage, 'text' | 'first'>): Uint8Array => {
  const { initiatorSpi, responderSpi, authKeys, suite, crypto } = sa;
  const flags = isRequest ? headerFlag.initiator : headerFlag.response;
  const fields: HeaderFields = {
    ...{ initiatorSpi, responderSpi, flags },
    exchange: exchangeType.intermediate,
    messageId: firstMessageId,
  };
  const key = isRequest ? authKeys?.initiator : authKeys?.responder;
  return crypto.prf(suite?.prf ?? 0, key ?? new Uint8Array(0), intermediateOctets(fields, message));
};

type Message = Pick<OpenedMessage, 'text' | 'first'>;

/** Both sides have the second secret: keys of their own follow from the ones before. */
const mixKeys = (
  sa: IkeSa,
  shared: Uint8Array,
  { request, response }: { request: Message; response: Message },
): void => {
  const negotiation = sa.negotiation as Negotiation;
  const { suite, derivation } = sa;
  const { nonces } = negotiation;
  if (suite === undefined || nonces === undefined) return;
  const messageId = new Uint8Array(4);
  viewOf(messageId).setUint32(0, authMessageId);
  negotiation.intermediate = concatBytes(authOf(sa, true, request), authOf(sa, false, response), messageId);
  negotiation.additional = 0;
  sa.setKeys(suite, { nonces, shared, previous: { prf: suite.prf, derivation } });
};

/** Makes the second key exchange where one was agreed on, then goes on. */
export const startIntermediate = (sa: IkeSa, onKeys: (sa: IkeSa) => void): void => {
  const group = sa.negotiation?.additional ?? 0;
  if (group === 0) {
    onKeys(sa);
    return;
  }
  const exchange = sa.crypto.createKeyExchange(group);
  const payloads = [writeKeyExchange(group, exchange.publicValue)];
  sa.request(exchangeType.intermediate, payloads, (reply, _, response) => {
    const answer = new PayloadSet(reply);
    const body = answer.find(payloadType.keyExchange);
    const value = body && readKeyExchange(body);
    const shared = value?.group === group ? secretOf(() => exchange.derive(value.data)) : undefined;
    if (shared === undefined || response === undefined) {
      const { error } = answer;
      sa.close(error === undefined ? 'invalidResponse' : notifyName(error.type));
      return;
    }
    mixKeys(sa, shared, { request: textOf(payloads), response });
    onKeys(sa);
  });
};

const secretOf = <T>(derive: () => T): T | undefined => {
  try {
    return derive();
  } catch {
    return undefined;
  }
};

const answerExchange = ({ crypto }: IkeSa, group: number, value: Uint8Array) => {
  if (isEncapsulation(group)) return crypto.encapsulate(group, value);
  const exchange = crypto.createKeyExchange(group);
  return { shared: exchange.derive(value), publicValue: exchange.publicValue };
};

/** Answers the second key exchange of an initiator. */
export const answerIntermediate = (sa: IkeSa, { exchange }: IkeHeader, request: OpenedMessage): void => {
  const group = sa.negotiation?.additional ?? 0;
  const value = readKeyExchange(new PayloadSet(request.payloads).get(payloadType.keyExchange));
  const answered = value.group === group ? secretOf(() => answerExchange(sa, group, value.data)) : undefined;
  if (answered === undefined) {
    sa.respond(exchange, [notify(notifyType.invalidSyntax)]);
    sa.close('INVALID_SYNTAX');
    return;
  }
  const payloads = [writeKeyExchange(group, answered.publicValue)];
  sa.respond(exchange, payloads);
  mixKeys(sa, answered.shared, { request, response: textOf(payloads) });
};

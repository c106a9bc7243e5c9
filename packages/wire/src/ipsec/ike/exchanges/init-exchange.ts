import { copyOf } from '../../../bytes/memory.ts';
import type { IpsecCrypto } from '../crypto.ts';
import type { IkeSa, Negotiation } from '../ike-sa.ts';
import { concatBytes, type IkePayload, isSameBytes, viewOf, writeMessage } from '../messages/message.ts';
import { exchangeType, hashId, headerFlag, notifyName, notifyType, payloadType } from '../messages/numbers.ts';
import { PayloadSet } from '../messages/payload-set.ts';
import {
  notify,
  readKeyExchange,
  readNonce,
  readSa,
  writeCertificateRequest,
  writeKeyExchange,
  writeNonce,
  writeSa,
} from '../messages/payloads.ts';
import { chooseProposal, type Offer, proposalsOf } from '../messages/suites.ts';
import type { IkePeer, IkeRoute } from '../peer.ts';

const nonceBytes = 32;
const noSpi = new Uint8Array(0);
const encapsulatedPort = 4500;
/** A peer that keeps asking for cookies or other groups is given up. */
const maxAttempts = 4;

const hashes = [hashId.sha256, hashId.sha384, hashId.sha512];
const hashData = Uint8Array.from(hashes.flatMap((id) => [id >>> 8, id & 255]));

const portBytes = (port: number): Uint8Array => Uint8Array.of(port >>> 8, port & 255);

interface NatEnd {
  readonly address: Uint8Array;
  readonly port: number;
}

const natHash = (crypto: IpsecCrypto, spis: Uint8Array, { address, port }: NatEnd): Uint8Array =>
  crypto.sha1(concatBytes(spis, address, portBytes(port)));

const localEnd = ({ localAddress, localPort }: IkeRoute): NatEnd => ({ address: localAddress, port: localPort });
const remoteEnd = ({ remoteAddress, remotePort }: IkeRoute): NatEnd => ({ address: remoteAddress, port: remotePort });

/** Notifications that let the peer see whether addresses are translated on the way. */
export const natNotifications = (sa: IkeSa): IkePayload[] => {
  const { crypto, route, peer } = sa;
  const spis = concatBytes(sa.initiatorSpi, sa.responderSpi);
  // A wrong hash makes the peer believe in a NAT, which is how UDP encapsulation is asked for.
  const source = peer.forcesEncapsulation ? crypto.random(20) : natHash(crypto, spis, localEnd(route));
  return [
    notify(notifyType.natDetectionSource, source),
    notify(notifyType.natDetectionDestination, natHash(crypto, spis, remoteEnd(route))),
  ];
};

export const detectNat = (sa: IkeSa, payloads: PayloadSet, spis: Uint8Array): void => {
  const { crypto, route } = sa;
  const sources = payloads.notifications.filter(({ type }) => type === notifyType.natDetectionSource);
  const destination = payloads.notification(notifyType.natDetectionDestination);
  if (sources.length === 0 || destination === undefined) return;
  const remote = natHash(crypto, spis, remoteEnd(route));
  const isRemoteBehind = !sources.some(({ data }) => isSameBytes(data, remote));
  sa.isBehindNat = !isSameBytes(destination.data, natHash(crypto, spis, localEnd(route)));
  sa.hasNat = isRemoteBehind || sa.isBehindNat || sa.peer.forcesEncapsulation;
};

const knownExtensions = [
  notify(notifyType.fragmentationSupported),
  notify(notifyType.signatureHashAlgorithms, hashData),
];

const extensions = (sa: IkeSa, hasAdditional: boolean): IkePayload[] => [
  ...(hasAdditional ? [notify(notifyType.intermediateExchangeSupported)] : []),
  ...natNotifications(sa),
  ...knownExtensions,
];

const readExtensions = (sa: IkeSa, payloads: PayloadSet): void => {
  sa.canFragment = payloads.notification(notifyType.fragmentationSupported) !== undefined;
  const data = payloads.notification(notifyType.signatureHashAlgorithms)?.data;
  if (data === undefined || sa.negotiation === undefined) return;
  const view = viewOf(data);
  sa.negotiation.hashes = Array.from({ length: data.length >> 1 }, (_, i) => view.getUint16(i * 2));
};

/** Initiators send their certificates only if they are asked for them. */
const certificateRequest = ({ peer: { authentication } }: IkeSa): IkePayload[] =>
  authentication.kind === 'certificate' ? [writeCertificateRequest(authentication.credential.authorities)] : [];

const createNegotiation = (sa: IkeSa, group: number): Negotiation => ({
  keyExchange: sa.crypto.createKeyExchange(group),
  nonces: undefined,
  localNonce: sa.crypto.random(nonceBytes),
  cookie: undefined,
  group,
  localInit: noSpi,
  remoteInit: noSpi,
  hashes: undefined,
  additional: 0,
  intermediate: undefined,
  attempts: 0,
});

/** Opens an SA: the first message. */
export const startInit = (sa: IkeSa, onKeys: (sa: IkeSa) => void): void => {
  sa.negotiation = createNegotiation(sa, sa.peer.ikeOffers[0]?.groups[0] ?? 0);
  sendInit(sa, sa.negotiation, onKeys);
};

/** The same for all SAs to a peer. */
const offerPayloads = new WeakMap<readonly Offer[], IkePayload>();

const offerPayload = ({ ikeOffers }: IkePeer): IkePayload => {
  const payload = offerPayloads.get(ikeOffers) ?? writeSa(proposalsOf(ikeOffers, { spi: noSpi }));
  offerPayloads.set(ikeOffers, payload);
  return payload;
};

const sendInit = (sa: IkeSa, negotiation: Negotiation, onKeys: (sa: IkeSa) => void): void => {
  const { cookie, group, keyExchange, localNonce } = negotiation;
  const payloads = [
    ...(cookie === undefined ? [] : [notify(notifyType.cookie, cookie)]),
    offerPayload(sa.peer),
    writeKeyExchange(group, keyExchange?.publicValue ?? noSpi),
    writeNonce(localNonce),
    ...extensions(
      sa,
      sa.peer.ikeOffers.some(({ additional = [] }) => additional.length > 0),
    ),
  ];
  sa.request(exchangeType.saInit, payloads, (reply, message) => {
    const answer = new PayloadSet(reply);
    if (answer.find(payloadType.sa) === undefined) retryInit(sa, negotiation, { answer, onKeys });
    else finishInit(sa, negotiation, { answer, message, onKeys });
  });
  negotiation.localInit = sa.lastRequest;
};

interface Answer {
  readonly answer: PayloadSet;
  readonly onKeys: (sa: IkeSa) => void;
}

/** The responder asks for a cookie or for another group. */
const retryInit = (sa: IkeSa, negotiation: Negotiation, { answer, onKeys }: Answer): void => {
  const cookie = answer.notification(notifyType.cookie);
  const wrongGroup = answer.notification(notifyType.invalidKe);
  const group = wrongGroup?.data.length === 2 ? viewOf(wrongGroup.data).getUint16(0) : undefined;
  const isOffered = group !== undefined && sa.peer.ikeOffers.some(({ groups }) => groups.includes(group));
  if (++negotiation.attempts >= maxAttempts || (cookie === undefined && !isOffered)) {
    const { error } = answer;
    sa.close(error === undefined ? 'invalidResponse' : notifyName(error.type));
    return;
  }
  if (cookie !== undefined) {
    negotiation.cookie = copyOf(cookie.data);
    sa.owner.events.onCookie(sa);
  } else if (group !== undefined) {
    negotiation.group = group;
    negotiation.keyExchange = sa.crypto.createKeyExchange(group);
  }
  sa.remoteSpi = new Uint8Array(8);
  sa.resetRequest();
  sendInit(sa, negotiation, onKeys);
};

const finishInit = (
  sa: IkeSa,
  negotiation: Negotiation,
  { answer, message, onKeys }: Answer & { readonly message: Uint8Array },
): void => {
  const choice = chooseProposal(readSa(answer.get(payloadType.sa)), sa.peer.ikeOffers, { group: negotiation.group });
  const { group, data } = readKeyExchange(answer.get(payloadType.keyExchange));
  if (choice === undefined || choice.suite.group !== negotiation.group || group !== negotiation.group) {
    sa.close('invalidResponse');
    return;
  }
  const nonces = { initiator: negotiation.localNonce, responder: readNonce(answer.get(payloadType.nonce)) };
  if (choice.suite.additional !== 0 && !hasIntermediate(answer)) {
    sa.close('invalidResponse');
    return;
  }
  negotiation.additional = choice.suite.additional;
  sa.remoteSpi = message.slice(8, 16);
  const shared = derive(negotiation, data);
  if (shared === undefined) {
    sa.close('invalidResponse');
    return;
  }
  sa.setKeys(choice.suite, { nonces, shared });
  negotiation.nonces = nonces;
  negotiation.remoteInit = message;
  negotiation.keyExchange = undefined;
  readExtensions(sa, answer);
  detectNat(sa, answer, concatBytes(sa.initiatorSpi, sa.responderSpi));
  // Initiators that may move use the port that works behind a NAT from the beginning (RFC 4555, 3.3).
  if ((sa.hasNat || sa.peer.isMobile === true) && !sa.route.isEncapsulated) {
    sa.route = { ...sa.route, localPort: encapsulatedPort, remotePort: encapsulatedPort, isEncapsulated: true };
  }
  sa.state = 'auth';
  onKeys(sa);
};

const hasIntermediate = (payloads: PayloadSet): boolean =>
  payloads.notification(notifyType.intermediateExchangeSupported) !== undefined;

const derive = ({ keyExchange }: Negotiation, value: Uint8Array): Uint8Array | undefined => {
  try {
    return keyExchange?.derive(value);
  } catch {
    return undefined;
  }
};

/** Answers the first message of an initiator. The SA closes where it cannot go on. */
export const answerInit = (sa: IkeSa, payloads: readonly IkePayload[], message: Uint8Array): void => {
  const request = new PayloadSet(payloads);
  const { group, data } = readKeyExchange(request.get(payloadType.keyExchange));
  const initiatorNonce = readNonce(request.get(payloadType.nonce));
  const choice = chooseProposal(readSa(request.get(payloadType.sa)), sa.peer.ikeOffers, { group });
  const isUnable = choice !== undefined && choice.suite.additional !== 0 && !hasIntermediate(request);
  if (choice === undefined || isUnable) {
    refuse(sa, notify(notifyType.noProposalChosen), 'NO_PROPOSAL_CHOSEN');
    return;
  }
  if (choice.suite.group !== group) {
    refuse(sa, notify(notifyType.invalidKe, portBytes(choice.suite.group)), 'INVALID_KE');
    return;
  }
  const negotiation = createNegotiation(sa, group);
  const shared = derive(negotiation, data);
  if (shared === undefined) {
    refuse(sa, notify(notifyType.invalidSyntax), 'INVALID_SYNTAX');
    return;
  }
  negotiation.additional = choice.suite.additional;
  sa.negotiation = negotiation;
  const nonces = { initiator: initiatorNonce, responder: negotiation.localNonce };
  sa.setKeys(choice.suite, { nonces, shared });
  negotiation.nonces = nonces;
  negotiation.remoteInit = message;
  readExtensions(sa, request);
  detectNat(sa, request, message.subarray(0, 16));
  sa.respond(exchangeType.saInit, [
    writeSa([choice.proposal]),
    writeKeyExchange(group, negotiation.keyExchange?.publicValue ?? noSpi),
    writeNonce(negotiation.localNonce),
    ...extensions(sa, choice.suite.additional !== 0),
    ...certificateRequest(sa),
  ]);
  negotiation.localInit = sa.lastResponse;
  negotiation.keyExchange = undefined;
  sa.state = 'auth';
};

/** The refusal has the SPI zero, because there is no SA. */
const refuse = (sa: IkeSa, payload: IkePayload, cause: string): void => {
  const { initiatorSpi } = sa;
  const fields = { initiatorSpi, exchange: exchangeType.saInit, flags: headerFlag.response, messageId: 0 };
  sa.sendAll([writeMessage({ ...fields, responderSpi: new Uint8Array(8) }, [payload])]);
  sa.close(cause);
};

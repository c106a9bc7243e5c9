import { copyOf } from '../../../bytes/memory.ts';
import type { IkeSa, Negotiation } from '../ike-sa.ts';
import { sharedKeyAuth } from '../key-schedule.ts';
import { concatBytes, type IkePayload, isSameBytes } from '../messages/message.ts';
import {
  authMethod,
  configurationAttribute,
  configurationType,
  exchangeType,
  idType,
  notifyName,
  notifyType,
  payloadType,
} from '../messages/numbers.ts';
import { PayloadSet } from '../messages/payload-set.ts';
import {
  type Identification,
  notify,
  readAuth,
  readCertificate,
  readConfiguration,
  readId,
  writeAuth,
  writeCertificate,
  writeCertificateRequest,
  writeConfiguration,
  writeId,
} from '../messages/payloads.ts';
import {
  acceptChild,
  announceChild,
  answerChild,
  type ChildRequest,
  childRequestPayloads,
  createChildRequest,
  expiryTime,
  rekeyTime,
} from './child-exchange.ts';
import { continueEap } from './eap-exchange.ts';

const empty = new Uint8Array(0);
const textBytes = new TextEncoder();

/** An identity by its text: an address, a name with "@", or a host name; "#" and hexadecimal digits: a key identifier. */
export const identificationOf = (text: string, address: Uint8Array | undefined): Identification => {
  if (address !== undefined) return { type: address.length === 4 ? idType.ipv4 : idType.ipv6, data: address };
  if (text.startsWith('#')) return { type: idType.keyId, data: textBytes.encode(text.slice(1)) };
  return { type: text.includes('@') ? idType.email : idType.fqdn, data: textBytes.encode(text) };
};

const ownIdentity = ({ peer, route, negotiation }: IkeSa): Identification => {
  if (peer.localId !== undefined) return peer.localId;
  if (negotiation?.eap !== undefined) return identificationOf(negotiation.eap.identity, undefined);
  const { authentication } = peer;
  if (authentication.kind === 'certificate') {
    return { type: idType.distinguishedName, data: authentication.credential.subject };
  }
  const { localAddress } = route;
  return { type: localAddress.length === 4 ? idType.ipv4 : idType.ipv6, data: localAddress };
};

/** The bytes that one side signs (RFC 7296, 2.15). */
const signedOctets = (sa: IkeSa, negotiation: Negotiation, side: 'own' | 'peer'): Uint8Array => {
  const { crypto, authKeys, suite, isInitiator } = sa;
  const { localInit, remoteInit, nonces, intermediate } = negotiation;
  const isOfInitiator = (side === 'own') === isInitiator;
  const identity = (side === 'own' ? sa.localIdentity : sa.remoteIdentity) as Identification;
  const key = (isOfInitiator ? authKeys?.initiator : authKeys?.responder) ?? empty;
  const nonce = (isOfInitiator ? nonces?.responder : nonces?.initiator) ?? empty;
  const body = concatBytes(Uint8Array.of(identity.type, 0, 0, 0), identity.data);
  return concatBytes(
    side === 'own' ? localInit : remoteInit,
    nonce,
    crypto.prf(suite?.prf ?? 0, key, body),
    intermediate ?? empty,
  );
};

/** What proves who this side is; nothing yet where EAP does it. */
const authPayloads = (sa: IkeSa, negotiation: Negotiation): { certificates: IkePayload[]; auth: IkePayload[] } => {
  const { authentication } = sa.peer;
  if (authentication.kind === 'eap') return { certificates: [], auth: [] };
  const octets = signedOctets(sa, negotiation, 'own');
  if (authentication.kind === 'sharedKey') {
    const data = sharedKeyAuth(sa.crypto, { prf: sa.suite?.prf ?? 0, key: authentication.key, octets });
    return { certificates: [], auth: [writeAuth(authMethod.sharedKey, data)] };
  }
  const { credential } = authentication;
  const { method, data } = credential.sign(octets, negotiation.hashes);
  return { certificates: credential.chain.map(writeCertificate), auth: [writeAuth(method, data)] };
};

/** Why the peer is not who it claims to be; undefined: it is. */
const peerProblem = (sa: IkeSa, negotiation: Negotiation, message: PayloadSet): string | undefined => {
  const { authentication, remoteId } = sa.peer;
  const identity = sa.remoteIdentity as Identification;
  if (remoteId !== undefined && (remoteId.type !== identity.type || !isSameBytes(remoteId.data, identity.data))) {
    return 'unexpectedIdentity';
  }
  const { method, data } = readAuth(message.get(payloadType.auth));
  const octets = signedOctets(sa, negotiation, 'peer');
  if (authentication.kind === 'sharedKey') {
    const expected = sharedKeyAuth(sa.crypto, { prf: sa.suite?.prf ?? 0, key: authentication.key, octets });
    return method === authMethod.sharedKey && isSameBytes(expected, data) ? undefined : 'wrongSharedKey';
  }
  const certificates = message.all(payloadType.certificate).flatMap((body) => readCertificate(body) ?? []);
  const check = authentication.kind === 'eap' ? authentication.server : authentication.credential;
  return check.findProblem({ certificates, octets, method, data });
};

const certificateRequest = ({ peer: { authentication } }: IkeSa): IkePayload[] => {
  if (authentication.kind === 'sharedKey') return [];
  const { authorities } = authentication.kind === 'eap' ? authentication.server : authentication.credential;
  return [writeCertificateRequest(authorities)];
};

const addressAttribute = (version: 4 | 6): number =>
  version === 4 ? configurationAttribute.ip4Address : configurationAttribute.ip6Address;

/** The second message of an initiator. */
export const startAuth = (sa: IkeSa): void => {
  const negotiation = sa.negotiation as Negotiation;
  const { authentication } = sa.peer;
  if (authentication.kind === 'eap') negotiation.eap = authentication.createClient();
  sa.localIdentity = ownIdentity(sa);
  const { certificates, auth } = authPayloads(sa, negotiation);
  const child = createChildRequest(sa, 0, { hasGroups: false });
  const { sa: proposals, selectors, mode } = childRequestPayloads(sa, child);
  const { requestsAddress, remoteId } = sa.peer;
  const payloads = [
    writeId(payloadType.idInitiator, sa.localIdentity),
    ...certificates,
    ...certificateRequest(sa),
    ...(remoteId === undefined ? [] : [writeId(payloadType.idResponder, remoteId)]),
    ...auth,
    ...(requestsAddress === undefined
      ? []
      : [writeConfiguration(configurationType.request, [{ type: addressAttribute(requestsAddress), value: empty }])]),
    proposals,
    ...selectors,
    ...mode,
    ...(sa.peer.isMobile === true ? [notify(notifyType.mobikeSupported)] : []),
  ];
  sa.request(exchangeType.auth, payloads, (reply) => finishAuth(sa, child, new PayloadSet(reply)));
};

const finishAuth = (sa: IkeSa, child: ChildRequest, answer: PayloadSet): void => {
  const negotiation = sa.negotiation as Negotiation;
  const { error } = answer;
  if (answer.find(payloadType.auth) === undefined) {
    sa.close(error === undefined ? 'invalidResponse' : notifyName(error.type));
    return;
  }
  sa.remoteIdentity = copyOfIdentity(readId(answer.get(payloadType.idResponder)));
  if (peerProblem(sa, negotiation, answer) !== undefined) {
    sa.sendLast(exchangeType.informational, [notify(notifyType.authenticationFailed)]);
    sa.close('untrusted');
    return;
  }
  const { eap } = negotiation;
  if (eap === undefined) {
    completeAuth(sa, child, answer);
    return;
  }
  const octets = (side: 'own' | 'peer') => signedOctets(sa, negotiation, side);
  continueEap(sa, { client: eap, octets, complete: (last) => completeAuth(sa, child, last) }, answer);
};

/** The responder is known, and the answer has what the child SA needs. */
const completeAuth = (sa: IkeSa, child: ChildRequest, answer: PayloadSet): void => {
  const negotiation = sa.negotiation as Negotiation;
  readAddress(sa, answer);
  sa.isMobile = sa.peer.isMobile === true && answer.notification(notifyType.mobikeSupported) !== undefined;
  const nonces = negotiation.nonces as NonNullable<Negotiation['nonces']>;
  establish(sa);
  const installed = acceptChild(sa, child, { answer, material: { nonces } });
  if (typeof installed === 'number') sa.owner.events.onChildFailed(sa, child.index, notifyName(installed));
  else announceChild(sa, installed);
  for (let index = 1; index < sa.peer.children.length; index++) sa.addTask({ kind: 'createChild', index });
  sa.reschedule();
};

const copyOfIdentity = ({ type, data }: Identification): Identification => ({ type, data: copyOf(data) });

const readAddress = (sa: IkeSa, answer: PayloadSet): void => {
  const { requestsAddress } = sa.peer;
  const body = answer.find(payloadType.configuration);
  if (requestsAddress === undefined || body === undefined) return;
  const found = readConfiguration(body).attributes.find(({ type }) => type === addressAttribute(requestsAddress));
  const size = requestsAddress === 4 ? 4 : 16;
  if (found !== undefined && found.value.length >= size) sa.innerAddress = found.value.slice(0, size);
};

/** The SA is authenticated: what was needed for that is forgotten, and timers start. */
const establish = (sa: IkeSa): void => {
  const { owner, peer } = sa;
  sa.state = 'established';
  sa.forgetNegotiation();
  sa.pack();
  sa.establishedMs = owner.nowMs;
  startTimers(sa);
  if (sa.isBehindNat && peer.timers.keepaliveMs > 0) sa.keepaliveAt = owner.nowMs + peer.timers.keepaliveMs;
  owner.events.onEstablished(sa);
};

export const startTimers = (sa: IkeSa): void => {
  const { rekeyMs, lifetimeMs } = sa.peer.timers;
  sa.rekeyAt = rekeyTime(sa, rekeyMs);
  sa.expireAt = expiryTime(sa, lifetimeMs);
};

/** Answers the second message of an initiator. */
export const answerAuth = (sa: IkeSa, payloads: readonly IkePayload[]): void => {
  const negotiation = sa.negotiation as Negotiation;
  const request = new PayloadSet(payloads);
  sa.remoteIdentity = copyOfIdentity(readId(request.get(payloadType.idInitiator)));
  sa.localIdentity = ownIdentity(sa);
  // Responders do not ask for EAP.
  const isUnable = sa.peer.authentication.kind === 'eap';
  if (isUnable || peerProblem(sa, negotiation, request) !== undefined) {
    sa.respond(exchangeType.auth, [notify(notifyType.authenticationFailed)]);
    sa.close('untrusted');
    return;
  }
  sa.isMobile = request.notification(notifyType.mobikeSupported) !== undefined;
  const { certificates, auth } = authPayloads(sa, negotiation);
  const configuration = assign(sa, request);
  const nonces = negotiation.nonces as NonNullable<Negotiation['nonces']>;
  const child =
    configuration === 'failed'
      ? notifyType.internalAddressFailure
      : answerChild(sa, request, { material: { nonces }, hasGroups: false });
  sa.respond(exchangeType.auth, [
    writeId(payloadType.idResponder, sa.localIdentity),
    ...certificates,
    ...auth,
    ...(configuration === 'failed' ? [] : configuration),
    ...(typeof child === 'number' ? [notify(child)] : child.payloads),
    ...(sa.isMobile ? [notify(notifyType.mobikeSupported)] : []),
  ]);
  establish(sa);
  if (typeof child === 'number') sa.owner.events.onChildFailed(sa, 0, notifyName(child));
  else announceChild(sa, child.child);
  sa.reschedule();
};

/** The inner address of an initiator that asks for one. */
const assign = (sa: IkeSa, request: PayloadSet): IkePayload[] | 'failed' => {
  const body = request.find(payloadType.configuration);
  const { assignAddress } = sa.peer;
  if (body === undefined || assignAddress === undefined) return [];
  const { type, attributes } = readConfiguration(body);
  if (type !== configurationType.request) return [];
  const version = attributes.some((one) => one.type === configurationAttribute.ip4Address)
    ? 4
    : attributes.some((one) => one.type === configurationAttribute.ip6Address)
      ? 6
      : undefined;
  if (version === undefined) return [];
  const address = assignAddress(version, sa.remoteIdentity as Identification);
  if (address === undefined) return 'failed';
  sa.innerAddress = address;
  const value = version === 4 ? address : concatBytes(address, Uint8Array.of(128));
  return [writeConfiguration(configurationType.reply, [{ type: addressAttribute(version), value }])];
};

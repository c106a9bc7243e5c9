import { pppCode, pppProtocol } from '../../access/ppp/packet.ts';
import { pppoeServerOptions } from '../access-ends.ts';
import { type Fault, withGateway } from './fault.ts';
import { concentratorOf, pppoeOptions, scripted } from './pppoe-faults.ts';
import {
  type ConcentratorScript,
  methodOf,
  type PppMessage,
  type ScriptedConcentrator,
} from './scripted-concentrator.ts';

const { lcp, ipcp, ip6cp, pap, chap } = pppProtocol;
const { configureRequest, configureAck, configureNak, configureReject, terminateRequest, protocolReject } = pppCode;

type Answer = (peer: ScriptedConcentrator, message: PppMessage) => void;

/** Answers certain packets in another way than it should. */
const instead = (protocol: number, codes: readonly number[], answer: Answer): ConcentratorScript => ({
  onPpp: (peer, message) => {
    const isMeant = message.protocol === protocol && codes.includes(message.code);
    if (isMeant) answer(peer, message);
    return isMeant;
  },
});
const atRequest = (protocol: number, answer: Answer) => instead(protocol, [configureRequest], answer);
const silent: Answer = () => {};
const agreesOnly: Answer = (peer, message) => peer.ppp({ ...message, code: configureAck });

const { ppp } = pppoeOptions;
const pppoeWith = (more: Partial<typeof ppp>) => ({ ...pppoeOptions, ppp: { ...ppp, ...more } });
const ipv6Alone = pppoeWith({
  ipcp: { ...ppp.ipcp, enabled: false },
  ip6cp: { enabled: true, autoconfigure: true },
});
const chapAlone = pppoeWith({ auth: { ...ppp.auth, offer: 'chap' } });

const linkFaults: readonly Fault[] = [
  { name: 'silence', cause: 'LCP: no answer', create: scripted(atRequest(lcp, silent)) },
  {
    name: 'answers to another request',
    cause: 'LCP: no answer',
    create: scripted(
      atRequest(lcp, (peer, message) => peer.ppp({ ...message, code: configureAck, id: message.id ^ 64 })),
    ),
  },
  {
    name: 'truncated answers',
    cause: 'LCP: no answer',
    create: scripted(atRequest(lcp, (peer, message) => peer.ppp({ ...message, code: configureAck }, 200))),
  },
  { name: 'agreement without a request', cause: 'LCP: no answer', create: scripted(atRequest(lcp, agreesOnly)) },
  {
    name: 'agreement twice, without end',
    cause: 'LCP: options not agreed',
    create: scripted(
      atRequest(lcp, (peer, message) => {
        agreesOnly(peer, message);
        agreesOnly(peer, message);
      }),
    ),
  },
  {
    name: 'another value, without end',
    cause: 'LCP: options not agreed',
    create: scripted(
      atRequest(lcp, (peer, message) => peer.ppp({ ...message, code: configureNak, body: [1, 4, 1, 0] })),
    ),
  },
  {
    name: 'rejection, without end',
    cause: 'LCP: options not agreed',
    create: scripted(
      atRequest(lcp, (peer, message) => peer.ppp({ ...message, code: configureReject, body: [1, 4, 5, 0xd4] })),
    ),
  },
  {
    name: 'a request that cannot be granted, without end',
    cause: 'LCP: options not agreed',
    create: scripted(
      atRequest(lcp, (peer, message) => {
        agreesOnly(peer, message);
        peer.say(lcp, configureRequest, [99, 4, 0, 0]);
      }),
    ),
  },
  {
    name: 'a new negotiation after each',
    cause: 'LCP: options not agreed',
    create: scripted(instead(lcp, [configureAck], (peer) => peer.request(lcp))),
  },
  {
    name: 'an end of what was agreed, without end',
    cause: 'LCP: options not agreed',
    create: scripted(instead(lcp, [configureAck], (peer) => peer.say(lcp, pppCode.terminateAck))),
  },
  {
    name: 'an end of the link at once',
    cause: 'LCP: ended by the peer',
    create: scripted(atRequest(lcp, (peer) => peer.say(lcp, terminateRequest))),
  },
  {
    name: 'an end of the link at authentication',
    cause: 'LCP: ended by the peer',
    create: scripted({ method: methodOf.pap, ...instead(pap, [1], (peer) => peer.say(lcp, terminateRequest)) }),
  },
  {
    name: 'an end of the link at IPCP',
    cause: 'LCP: ended by the peer',
    create: scripted(atRequest(ipcp, (peer) => peer.say(lcp, terminateRequest))),
  },
  {
    name: 'an end of the link of a session that is up',
    cause: 'LCP: ended by the peer',
    create: scripted({}),
    onUp: (ends) => concentratorOf(ends).say(lcp, terminateRequest),
  },
  {
    name: 'a pool that is exhausted',
    cause: 'LCP: ended by the peer',
    create: withGateway(
      { access: { pppoe: pppoeOptions }, count: 2 },
      { pppoe: { ...pppoeServerOptions, pools: [{ name: '', start: 0x64400002, size: 1 }] } },
    ),
  },
  {
    name: 'silence of a session that is up',
    cause: 'LCP: echo without answer',
    create: scripted({}),
    onUp: (ends) => {
      concentratorOf(ends).isSilent = true;
    },
  },
  {
    name: 'everything back',
    cause: 'PPP: loop detected',
    create: scripted({ onPpp: (peer, message) => peer.ppp(message) === undefined }),
  },
  {
    name: 'echoes back',
    cause: 'PPP: loop detected',
    create: scripted(instead(lcp, [pppCode.echoRequest], (peer, message) => peer.ppp(message))),
  },
];

const authenticationFaults: readonly Fault[] = [
  {
    name: 'no answer to PAP',
    cause: 'authentication: no answer',
    create: scripted({ method: methodOf.pap, ...instead(pap, [1], silent) }),
  },
  {
    name: 'an answer to other words of PAP',
    cause: 'authentication: no answer',
    create: scripted({
      method: methodOf.pap,
      ...instead(pap, [1], (peer, message) => peer.ppp({ ...message, code: 2, id: message.id ^ 1, body: [0] })),
    }),
  },
  {
    name: 'truncated answers to PAP',
    cause: 'authentication: no answer',
    create: scripted({
      method: methodOf.pap,
      ...instead(pap, [1], (peer, message) => peer.ppp({ ...message, code: 2, body: [] }, 100)),
    }),
  },
  {
    name: 'no challenge',
    cause: 'authentication: no answer',
    create: scripted({ method: methodOf.md5, ...instead(lcp, [configureAck], silent) }),
  },
  {
    name: 'challenges without end',
    cause: 'authentication: no answer',
    create: scripted({ method: methodOf.md5, ...instead(chap, [2], (peer) => peer.challenge()) }),
  },
  {
    name: 'a refusal by PAP',
    cause: 'authentication: refused',
    create: scripted({
      method: methodOf.pap,
      ...instead(pap, [1], (peer, message) => peer.ppp({ ...message, code: 3, body: [0] })),
    }),
  },
  {
    name: 'a refusal by CHAP',
    cause: 'authentication: refused',
    create: scripted({
      method: methodOf.md5,
      ...instead(chap, [2], (peer, message) => peer.ppp({ ...message, code: 4, body: [] })),
    }),
  },
  {
    name: 'a refusal by CHAP with an end of the link',
    cause: 'authentication: refused',
    create: scripted({
      method: methodOf.md5,
      ...instead(chap, [2], (peer, message) => {
        peer.ppp({ ...message, code: 4, body: [] });
        peer.say(lcp, terminateRequest);
      }),
    }),
  },
  {
    name: 'no proof that it knows the password',
    cause: 'authentication: refused',
    create: scripted({
      method: methodOf.msChapV2,
      ...instead(chap, [2], (peer, message) =>
        peer.ppp({ ...message, code: 3, body: [...new TextEncoder().encode(`S=${'0'.repeat(40)}`)] }),
      ),
    }),
  },
  {
    name: 'a method that is not accepted',
    cause: 'authentication: method not accepted',
    create: scripted({ method: methodOf.pap }, chapAlone),
  },
  {
    name: 'a method that is not accepted, without end',
    cause: 'authentication: method not accepted',
    create: scripted(
      {
        method: methodOf.pap,
        ...instead(lcp, [configureNak, configureReject], (peer) => peer.request(lcp)),
      },
      chapAlone,
    ),
  },
];

/** The same of IPCP and of IP6CP. */
const networkFaults = (name: 'IPCP' | 'IP6CP', protocol: number, pppoe: typeof pppoeOptions): readonly Fault[] => {
  const at = (answer: Answer) => scripted(atRequest(protocol, answer), pppoe);
  return [
    { name: `silence about ${name}`, cause: `${name}: no answer`, create: at(silent) },
    { name: `agreement about ${name} without a request`, cause: `${name}: no answer`, create: at(agreesOnly) },
    {
      name: `a rejection of ${name}`,
      cause: `${name}: refused`,
      create: at((peer, message) =>
        peer.say(lcp, protocolReject, [protocol >> 8, protocol & 255, message.code, message.id, 0, 4]),
      ),
    },
    {
      name: `a rejection of the options of ${name}`,
      cause: `${name}: refused`,
      create: at((peer, message) => peer.ppp({ ...message, code: configureReject })),
    },
    {
      name: `requests of ${name} that cannot be granted`,
      cause: `${name}: refused`,
      create: at((peer, message) => {
        agreesOnly(peer, { ...message, body: protocol === ipcp ? [3, 6, 100, 64, 0, 2] : message.body });
        peer.say(protocol, configureRequest, [99, 4, 0, 0]);
      }),
    },
  ];
};

/** Other ends of PPP that misbehave. */
export const pppFaults: readonly Fault[] = [
  ...linkFaults,
  ...authenticationFaults,
  ...networkFaults('IPCP', ipcp, pppoeOptions),
  ...networkFaults('IP6CP', ip6cp, ipv6Alone),
  {
    name: 'no address',
    cause: 'IPCP: refused',
    create: scripted(
      atRequest(ipcp, (peer, message) => {
        peer.ppp({ ...message, code: configureAck });
        peer.request(ipcp);
      }),
    ),
  },
  {
    name: 'the address 0.0.0.0, without end',
    cause: 'IPCP: refused',
    create: scripted(
      atRequest(ipcp, (peer, message) => peer.ppp({ ...message, code: configureNak, body: [3, 6, 0, 0, 0, 0] })),
    ),
  },
  {
    name: 'an end of IPCP of a session that is up',
    cause: 'IPCP: refused',
    create: scripted({}),
    onUp: (ends) => concentratorOf(ends).say(ipcp, terminateRequest),
  },
  { name: 'no router', cause: 'router advertisement: none', create: scripted({}, ipv6Alone) },
];

import { pppCode, pppProtocol } from '../../access/ppp/packet.ts';
import { pppoeCode, pppoeTag } from '../../access/pppoe/message.ts';
import { pppoeClientOptions, pppoeServerOptions } from '../access-ends.ts';
import { type Fault, type FaultEnds, withFarEnd, withGateway } from './fault.ts';
import { type ConcentratorScript, methodOf, ScriptedConcentrator } from './scripted-concentrator.ts';

const { ppp } = pppoeClientOptions;
const lcp = { ...ppp.lcp, retries: 3, echoMs: 2000, echoRetries: 2 };
/** Subscribers that want IPv4 alone and ask few times. */
export const pppoeOptions = {
  ...{ ...pppoeClientOptions, retries: 2 },
  ppp: { ...ppp, lcp, auth: { ...ppp.auth, retries: 3 }, ip6cp: { enabled: false, autoconfigure: false } },
};
type PppoeOptions = typeof pppoeClientOptions;

/** One subscriber and a concentrator that does what a script says. */
export const scripted =
  (script: ConcentratorScript, pppoe: PppoeOptions = pppoeOptions): Fault['create'] =>
  (context) =>
    withFarEnd({ access: { pppoe } }, context, (lab) => new ScriptedConcentrator(lab.sink(1), script));

export const concentratorOf = ({ lab }: FaultEnds): ScriptedConcentrator => {
  const far = lab.ends[1];
  if (!(far instanceof ScriptedConcentrator)) throw new Error('the other end has no script');
  return far;
};

/** Answers a packet of discovery in another way than it should. */
const instead = (
  code: number,
  answer: (peer: ScriptedConcentrator) => void,
): Pick<ConcentratorScript, 'onDiscovery'> => ({
  onDiscovery: (peer, received) => {
    if (received === code) answer(peer);
    return received === code;
  },
});
const { padi, padr, pado, pads } = pppoeCode;
const other = Uint8Array.of(1, 2, 3);

/** Concentrators of PPPoE that misbehave. */
export const pppoeFaults: readonly Fault[] = [
  { name: 'silence', cause: 'PPPoE: no offer', create: scripted(instead(padi, () => {})) },
  {
    name: 'an offer to another host',
    cause: 'PPPoE: no offer',
    create: scripted(instead(padi, (peer) => peer.discovery(pado, { uniq: other }))),
  },
  {
    name: 'an offer without a name',
    cause: 'PPPoE: no offer',
    create: scripted(instead(padi, (peer) => peer.discovery(pado, { name: '' }))),
  },
  {
    name: 'truncated offers',
    cause: 'PPPoE: no offer',
    create: withGateway({ access: { pppoe: pppoeOptions } }, { pppoe: pppoeServerOptions }, (frame, from) =>
      from === 1 ? frame.subarray(0, 30) : frame,
    ),
  },
  {
    name: 'an offer that is an error',
    cause: 'PPPoE: refused by the concentrator',
    create: scripted(instead(padi, (peer) => peer.discovery(pado, { error: pppoeTag.genericError }))),
  },
  { name: 'an offer that is not kept', cause: 'PPPoE: no session', create: scripted(instead(padr, () => {})) },
  {
    name: 'a session for another host',
    cause: 'PPPoE: no session',
    create: scripted(instead(padr, (peer) => peer.discovery(pads, { sessionId: 7, uniq: other }))),
  },
  ...[pppoeTag.serviceNameError, pppoeTag.acSystemError, pppoeTag.genericError].map(
    (error): Fault => ({
      name: `a session that is the error ${error.toString(16)}`,
      cause: 'PPPoE: refused by the concentrator',
      create: scripted(instead(padr, (peer) => peer.discovery(pads, { sessionId: 7, error }))),
    }),
  ),
  {
    name: 'a session without a number',
    cause: 'PPPoE: refused by the concentrator',
    create: scripted(instead(padr, (peer) => peer.discovery(pads))),
  },
  {
    name: 'as many sessions as it may have',
    cause: 'PPPoE: refused by the concentrator',
    create: withGateway(
      { access: { pppoe: pppoeOptions }, count: 2 },
      { pppoe: { ...pppoeServerOptions, maxSessions: 1 } },
    ),
  },
  {
    name: 'an end while LCP is negotiated',
    cause: 'PPPoE: ended by the concentrator',
    create: scripted({ onPpp: (peer) => peer.terminate() === undefined }),
  },
  {
    name: 'an end of a session that is up',
    cause: 'PPPoE: ended by the concentrator',
    create: scripted({}),
    onUp: (ends) => concentratorOf(ends).terminate(),
  },
  {
    name: 'an end together with a refusal',
    cause: 'authentication: refused',
    create: scripted({
      method: methodOf.pap,
      onPpp: (peer, message) => {
        if (message.protocol !== pppProtocol.pap) return message.code === pppCode.terminateRequest;
        peer.ppp({ ...message, code: 3, body: [0] });
        peer.terminate();
        return true;
      },
    }),
  },
];

import type { Histogram } from '@rushhour/protocol';
import {
  type AccessClient,
  type AccessGateway,
  type L2tpLns,
  type LinkGroup,
  type SessionCause,
  type SessionStep,
  type SessionTable,
  type SpanningTree,
  type SubscriberListener,
  sessionStates,
  sessionSteps,
  type TimePort,
} from '@rushhour/wire';
import type { Counter, Gauge, Samples } from '../engine.ts';
import type { OpenFlowChannels } from './switches/openflow-channels.ts';

const stepMetrics: Partial<Record<SessionStep, string>> = {
  'PPPoE discovery': 'access.step.discovery',
  'PPPoE request': 'access.step.request',
  LCP: 'access.step.lcp',
  authentication: 'access.step.authentication',
  'IPCP and IP6CP': 'access.step.network',
  DHCP: 'access.step.dhcp',
  gateway: 'access.step.gateway',
  IPv6: 'access.step.ipv6',
  '802.1X': 'access.step.dot1x',
  'L2TP tunnel': 'access.step.tunnel',
  'L2TP call': 'access.step.call',
};

/** The last part of the name of its metric. */
const stepNameOf = (step: SessionStep): string | undefined => stepMetrics[step]?.split('.').at(-1);

/** `DHCP: no offer` is `dhcp-no-offer` in names of metrics. */
const slugOf = (cause: SessionCause): string => cause.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');

/** A counter that follows a total kept elsewhere. */
class Follower {
  readonly #counter: Counter;
  #last = 0;

  constructor(counter: Counter) {
    this.#counter = counter;
  }

  set(total: number): void {
    this.#counter.add(total - this.#last);
    this.#last = total;
  }
}

interface Traffic {
  readonly sent: number;
  readonly received: number;
  readonly timeouts?: number;
}

const totalOf = (parts: readonly { readonly counters: Required<Traffic> }[]): Traffic => {
  const sumOf = (name: keyof Traffic) => parts.reduce((sum, { counters }) => sum + counters[name], 0);
  return { sent: sumOf('sent'), received: sumOf('received'), timeouts: sumOf('timeouts') };
};

/** Metrics of the access plane. Times are in microseconds. */
export class AccessMeters implements SubscriberListener {
  readonly #samples: Samples;
  readonly #proof: Samples;
  readonly #established: Gauge;
  readonly #sessions: Gauge;
  readonly #setupRate: Gauge;
  readonly #setup: Histogram;
  readonly #flapped: Counter;
  readonly #join: Histogram;
  readonly #leave: Histogram;
  readonly #followers = new Map<string, Follower>();
  /** Steps and states that sessions have been in. */
  readonly #entered = new Set<string>();
  #setups = 0;

  /** `proofName`: of the traffic that proves that sessions work. */
  constructor(samples: Samples, proofName = '') {
    this.#samples = samples;
    this.#proof = proofName === '' ? samples : samples.target(proofName);
    this.#established = samples.gauge('access.established');
    this.#sessions = samples.gauge('access.sessions');
    this.#setupRate = samples.gauge('access.setupRate');
    this.#setup = samples.histogram('access.setup');
    this.#flapped = samples.counter('access.flapped');
    this.#join = samples.histogram('access.join');
    this.#leave = samples.histogram('access.leave');
  }

  readonly onStepDone = (_session: number, step: SessionStep, tookMs: number): void => {
    const [metric, name] = [stepMetrics[step], stepNameOf(step)];
    if (metric === undefined || name === undefined) return;
    this.#samples.histogram(metric).record(tookMs * 1000);
    this.#entered.add(name);
  };

  readonly onEstablished = (_session: number, setupMs: number): void => {
    this.#setups++;
    this.#setup.record(setupMs * 1000);
  };

  readonly onFlap = (_session: number, cause: SessionCause): void => {
    this.#flapped.add(1);
    this.#samples.counter(`access.failures.${slugOf(cause)}`).add(1);
  };

  readonly onFailed = (_session: number, cause: SessionCause): void => {
    if (cause !== 'stopped') this.#samples.counter(`access.failures.${slugOf(cause)}`).add(1);
  };

  readonly onJoined = (_session: number, delayMs: number): void => {
    this.#join.record(delayMs * 1000);
  };

  readonly onLeft = (_session: number, delayMs: number): void => {
    this.#leave.record(delayMs * 1000);
  };

  /** Sets the gauges; `elapsedSec`: since the last call. */
  update(counts: { readonly wanted: number; readonly established: number }, elapsedSec: number): void {
    this.#sessions.set(counts.wanted);
    this.#established.set(counts.established);
    this.#setupRate.set(elapsedSec > 0 ? this.#setups / elapsedSec : 0);
    this.#setups = 0;
  }

  /** Counts the sessions in each step of the setup, and in each state outside of it. */
  countSteps(tables: readonly SessionTable[]): void {
    const totals = new Map<string, number>();
    const add = (name: string | undefined, count = 0) => {
      if (name !== undefined) totals.set(name, (totals.get(name) ?? 0) + count);
    };
    for (const { counts, stepCounts } of tables) {
      for (const [code, step] of sessionSteps.entries()) add(stepNameOf(step), stepCounts[code]);
      for (const [code, state] of sessionStates.entries()) if (state !== 'setup') add(state, counts[code]);
    }
    for (const [name, count] of totals) {
      if (count > 0) this.#entered.add(name);
      if (this.#entered.has(name)) this.#samples.gauge(`access.inStep.${name}`).set(count);
    }
  }

  /** Follows the totals of the protocols of an interface. */
  followClient(name: string, { ipoe, pppoe, l2tp, igmp, supplicants }: AccessClient): void {
    if (supplicants !== undefined) this.#follow(name, 'dot1x', supplicants.counters);
    if (igmp !== undefined) this.#follow(name, 'igmp', igmp.hosts.counters);
    if (ipoe !== undefined) {
      const { arpSent, arpReceived, arpTimeouts, echoSent, echoReceived } = ipoe.counters;
      this.#follow(name, 'arp', { sent: arpSent, received: arpReceived, timeouts: arpTimeouts });
      if (ipoe.dhcp !== undefined) this.#follow(name, 'dhcp', ipoe.dhcp.counters);
      const { ipv6 } = ipoe;
      if (ipv6 !== undefined) this.#follow(name, 'nd', ipv6.counters);
      if (ipv6?.dhcpv6 !== undefined) this.#follow(name, 'dhcpv6', ipv6.dhcpv6.counters);
      const { echoSent: sent6 = 0, echoReceived: received6 = 0 } = ipv6?.counters ?? {};
      this.#followProof(name, echoSent + sent6, echoReceived + received6);
    }
    if (pppoe !== undefined) this.#follow(name, 'pppoe', pppoe.counters);
    if (l2tp !== undefined) this.#followTunnels(name, l2tp.tunnels, l2tp.counters.timeouts);
    const sessions = pppoe ?? l2tp;
    if (sessions === undefined) return;
    const { ppp, counters } = sessions;
    this.#followPpp(name, [ppp]);
    const { routers, dhcpv6, counters: own6 } = ppp.sessionIpv6;
    this.#follow(name, 'nd', routers.counters);
    if (dhcpv6 !== undefined) this.#follow(name, 'dhcpv6', dhcpv6.counters);
    this.#followProof(name, counters.echoSent + own6.echoSent, counters.echoReceived + own6.echoReceived);
  }

  followGateway(name: string, { ipoe, ipoe6, pppoe, l2tp, dot1x, radius }: AccessGateway): void {
    if (radius !== undefined) this.#follow(name, 'radius', radius.counters);
    if (dot1x !== undefined) this.#follow(name, 'dot1x', dot1x.counters);
    if (ipoe !== undefined) this.#follow(name, 'dhcp', ipoe.dhcp.counters);
    if (ipoe6 !== undefined) this.#follow(name, 'nd', ipoe6.counters);
    if (ipoe6?.dhcpv6 !== undefined) this.#follow(name, 'dhcpv6', ipoe6.dhcpv6.counters);
    if (pppoe !== undefined) this.#follow(name, 'pppoe', pppoe.counters);
    if (l2tp !== undefined) this.#followTunnels(name, l2tp.tunnels);
    const all = [pppoe, l2tp].flatMap((server) => server?.ppp ?? []);
    this.#followPpp(name, all);
    for (const { sessionIpv6 } of all)
      if (sessionIpv6.server !== undefined) this.#follow(name, 'dhcpv6', sessionIpv6.server.counters);
  }

  #followTunnels(name: string, { counters }: L2tpLns['tunnels'], timeouts = 0): void {
    this.#follow(name, 'l2tp', { ...counters, timeouts });
  }

  #followPpp(name: string, all: readonly L2tpLns['ppp'][]): void {
    if (all.length === 0) return;
    for (const protocol of ['lcp', 'auth', 'ipcp', 'ip6cp'] as const)
      this.#follow(name, protocol, totalOf(all.map((ppp) => ppp[protocol])));
  }

  /** Members of a link aggregation group. */
  followGroup(name: string, { members, active, counters }: LinkGroup): void {
    this.#follow(name, 'lacp', totalOf(members));
    this.#samples.gauge('access.activeLinks').set(active.length);
    this.#set(name, 'access.linkChanges', counters.changes);
    this.#set(name, 'access.framesWithoutLink', counters.framesLost);
  }

  /** A controller has answered a packet that a switch had sent up. */
  readonly onAnswered = (delayMs: number): void => {
    this.#samples.histogram('access.packetInLatency').record(Math.round(delayMs * 1000));
  };

  /** OpenFlow switches and their channels. */
  followSwitches(name: string, { fabric, upCount, reconnects }: OpenFlowChannels): void {
    const { switches } = fabric;
    this.#follow(name, 'openflow', totalOf(switches));
    const sumOf = (counter: 'packetIns' | 'packetOuts' | 'flowMods') =>
      switches.reduce((sum, { counters }) => sum + counters[counter], 0);
    for (const counter of ['packetIns', 'packetOuts', 'flowMods'] as const)
      this.#set(name, `access.${counter}`, sumOf(counter));
    this.#set(name, 'access.flapped', reconnects);
    this.#sessions.set(switches.length);
    this.#established.set(upCount);
    this.#samples.gauge('access.flows').set(switches.reduce((sum, { tables }) => sum + tables.count, 0));
  }

  /** A clock differs from its leader by so much. */
  onClockOffset(offsetNs: number): void {
    this.#samples.histogram('access.clockOffset').record(Math.round(Math.abs(offsetNs) / 1000));
  }

  /** Mean delay of the link of a clock. */
  onPathDelay(delayNs: number): void {
    this.#samples.histogram('access.pathDelay').record(Math.round(delayNs / 1000));
  }

  /** The port of a clock. */
  followClock(name: string, { counters }: TimePort): void {
    this.#follow(name, 'gptp', counters);
    this.#set(name, 'access.leaderChanges', counters.leaderChanges);
  }

  /** Ports of a bridge. */
  followBridge(name: string, { ports, counters }: SpanningTree): void {
    this.#follow(name, 'stp', totalOf(ports));
    this.#set(name, 'access.topologyChanges', counters.topologyChanges);
    this.#set(name, 'access.rootChanges', counters.rootChanges);
  }

  /** Lines that an access node reports to its gateway, at either end. */
  followLines(name: string, lines: { totals(): Traffic; readonly linesUp: number; readonly changes: number }): void {
    this.#follow(name, 'ancp', lines.totals());
    this.#samples.gauge('access.linesUp').set(lines.linesUp);
    this.#set(name, 'access.lineChanges', lines.changes);
  }

  #followProof(name: string, sent: number, received: number): void {
    this.#set(name, 'access.proofSent', sent, this.#proof);
    this.#set(name, 'access.proofReceived', received, this.#proof);
  }

  #follow(name: string, protocol: string, { sent, received, timeouts = 0 }: Traffic): void {
    this.#set(name, `access.tx.${protocol}`, sent);
    this.#set(name, `access.rx.${protocol}`, received);
    this.#set(name, `access.timeouts.${protocol}`, timeouts);
  }

  #set(name: string, metric: string, total: number, samples = this.#samples): void {
    const key = `${name} ${metric}`;
    const follower = this.#followers.get(key) ?? new Follower(samples.counter(metric));
    this.#followers.set(key, follower);
    follower.set(total);
  }
}

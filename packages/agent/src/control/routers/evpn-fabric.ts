import { type BgpSession, type EvpnRoutes, type HostMove, HostMoves } from '@rushhour/wire';
import type { EvpnProfile } from './profiles.ts';

/** A BGP session over which a router announces its routes of EVPN. */
export interface FabricMember {
  /** Number of the router among those with the profile. */
  readonly ordinal: number;
  readonly routes: EvpnRoutes;
  readonly session: BgpSession;
}

/** The routers with the same profile of EVPN; hosts move from one of them to the next. */
export class EvpnFabric {
  readonly #profile: EvpnProfile;
  readonly #members: FabricMember[] = [];
  #moves: HostMoves | undefined = undefined;

  constructor(profile: EvpnProfile) {
    this.#profile = profile;
  }

  join(member: FabricMember): void {
    this.#members.push(member);
  }

  /** Hosts begin to move; called by each session that starts. */
  start(now: number): void {
    if (this.#moves !== undefined) return;
    this.#moves = new HostMoves({
      routers: 1 + Math.max(...this.#members.map(({ ordinal }) => ordinal)),
      hostsPerRouter: this.#members[0]?.routes.hostsPerRouter ?? 0,
      intervalMs: this.#profile.hosts.moveSec * 1000,
    });
    this.#moves.start(now);
  }

  advance(now: number): void {
    for (let move = this.#moves?.advance(now); move !== undefined; move = this.#moves?.advance(now)) {
      for (const member of this.#members) if (member.ordinal === move.to) announce(member, move, false);
      for (const member of this.#members) if (member.ordinal === move.from) announce(member, move, true);
    }
  }

  /** All routes of a session were announced or withdrawn: corrects those of hosts that have moved. */
  correct(session: BgpSession, isWithdrawn: boolean): void {
    for (const move of this.#moves?.moved ?? [])
      for (const member of this.#members) {
        if (member.session !== session) continue;
        const home = Math.floor(move.host / member.routes.hostsPerRouter);
        if (member.ordinal === move.to) announce(member, move, isWithdrawn);
        else if (member.ordinal === home && !isWithdrawn) announce(member, move, true);
      }
  }
}

const announce = ({ session, routes }: FabricMember, { host, sequence }: HostMove, isWithdrawn: boolean): void =>
  session.say(routes.movedHost(host, sequence), isWithdrawn);

/** The fabrics of a job, by profile. */
export class EvpnFabrics {
  readonly #fabrics = new Map<EvpnProfile, EvpnFabric>();

  of(profile: EvpnProfile): EvpnFabric {
    const known = this.#fabrics.get(profile) ?? new EvpnFabric(profile);
    this.#fabrics.set(profile, known);
    return known;
  }
}

import type { OwnedRun } from './peer-messages.ts';
import type { ControllerLoad } from './spread.ts';

/** Another controller of the installation. */
interface Peer {
  heardAt: number;
  isConducting: boolean;
  takesStored: boolean;
  load?: ControllerLoad | undefined;
}

/** An agent without a connection, since its controller went away. */
interface Away {
  readonly sinceMs: number;
}

/** A controller that was silent for so long is gone. */
const silenceMs = 4000;

/** Which controllers there are and which agents they have. Times are monotonic milliseconds. */
export class PeerDirectory {
  readonly #peers = new Map<string, Peer>();
  readonly #homes = new Map<number, { peer: string; roundTripMs: number }>();
  readonly #away = new Map<number, Away>();
  /** By run: the other controller that conducts it; empty while its owner is gone and it has no other yet. */
  readonly #owners = new Map<number, { peer: string; fence: number }>();

  get peerCount() {
    return this.#peers.size;
  }

  /** A controller that conducts runs, if another one does. */
  get conductor(): string | undefined {
    return [...this.#peers].find(([, { isConducting }]) => isConducting)?.[0];
  }

  /** Empty while its owner is gone and it has no other yet; undefined when no other controller conducts it. */
  ownerOf(runId: number): string | undefined {
    return this.#owners.get(runId)?.peer;
  }

  /** Whether another controller conducts the run, or none at the moment, and hears of it what others stored. */
  isElsewhere(runId: number): boolean {
    const owner = this.ownerOf(runId);
    return owner === '' || (owner !== undefined && (this.#peers.get(owner)?.takesStored ?? false));
  }

  /** What a controller says that lost a run and does not know it yet does not count. */
  own(runs: readonly OwnedRun[], peer: string): void {
    for (const [id, fence] of runs) {
      if ((this.#owners.get(id)?.fence ?? 0) <= fence) this.#owners.set(id, { peer, fence });
    }
  }

  disown(runs: readonly OwnedRun[], peer: string): void {
    for (const [id] of runs) if (this.ownerOf(id) === peer) this.#owners.delete(id);
  }

  /** This controller conducts them now. */
  forgetRuns(runs: readonly OwnedRun[]): void {
    for (const [id] of runs) this.#owners.delete(id);
  }

  /** All runs that a controller conducts; those it does not name are over. */
  setRuns(peer: string, runs: readonly OwnedRun[]): void {
    const named = new Set(runs.map(([id]) => id));
    for (const [id, owner] of this.#owners) if (owner.peer === peer && !named.has(id)) this.#owners.delete(id);
    this.own(runs, peer);
  }

  homeOf(agentId: number): string | undefined {
    return this.#homes.get(agentId)?.peer;
  }

  roundTripMs(agentId: number): number | undefined {
    return this.#homes.get(agentId)?.roundTripMs;
  }

  /** Of all controllers, this one comes first. */
  isFirst(own: string): boolean {
    return [...this.#peers.keys()].every((id) => own < id);
  }

  get agentIds(): number[] {
    return [...this.#homes.keys()];
  }

  /** What it does not say now is as before. */
  heard(peer: string, now: number, news: Partial<Omit<Peer, 'heardAt'>> = {}): void {
    const { isConducting, takesStored, load } = news;
    const before = this.#peers.get(peer);
    this.#peers.set(peer, {
      heardAt: now,
      isConducting: isConducting ?? before?.isConducting ?? false,
      takesStored: takesStored ?? before?.takesStored ?? false,
      load: load ?? before?.load,
    });
  }

  /** How much work the other controllers have; those of an earlier version do not say it. */
  get loads(): ControllerLoad[] {
    return [...this.#peers.values()].flatMap(({ load }) => load ?? []);
  }

  put(agentId: number, peer: string, roundTripMs: number): void {
    this.#away.delete(agentId);
    this.#homes.set(agentId, { peer, roundTripMs });
  }

  /** False when the agent is not known to be with this controller. */
  take(agentId: number, peer: string): boolean {
    if (this.homeOf(agentId) !== peer) return false;
    return this.#homes.delete(agentId);
  }

  /** The agent is connected to this controller. */
  arrived(agentId: number): void {
    this.#homes.delete(agentId);
    this.#away.delete(agentId);
  }

  /** All agents that a controller has; those it does not name have left it. */
  setAgents(peer: string, agents: readonly (readonly [number, number])[]): void {
    const named = new Set(agents.map(([id]) => id));
    for (const [id, home] of this.#homes) if (home.peer === peer && !named.has(id)) this.#homes.delete(id);
    for (const [id, roundTripMs] of agents) this.put(id, peer, roundTripMs);
  }

  /** A controller is gone. Returns its agents, which have time to connect elsewhere. */
  leave(peer: string, now: number): number[] {
    this.#peers.delete(peer);
    for (const owner of this.#owners.values()) if (owner.peer === peer) owner.peer = '';
    const left = [...this.#homes].filter(([, home]) => home.peer === peer).map(([id]) => id);
    for (const id of left) {
      this.#homes.delete(id);
      this.#away.set(id, { sinceMs: now });
    }
    return left;
  }

  silent(now: number): string[] {
    return [...this.#peers].filter(([, { heardAt }]) => now - heardAt > silenceMs).map(([id]) => id);
  }

  /** After a pause of this process silence means nothing. */
  excuse(pauseMs: number): void {
    for (const peer of this.#peers.values()) peer.heardAt += pauseMs;
  }

  /** Agents that have been away for too long. They are returned once. */
  takeLost(now: number, lostMs: number): number[] {
    const lost = [...this.#away].filter(([, { sinceMs }]) => now - sinceMs > lostMs).map(([id]) => id);
    for (const id of lost) this.#away.delete(id);
    return lost;
  }
}

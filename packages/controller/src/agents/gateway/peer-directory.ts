/** Another controller of the installation. */
interface Peer {
  heardAt: number;
  isConducting: boolean;
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

  get peerCount() {
    return this.#peers.size;
  }

  /** The controller that conducts, if it is another one and known. */
  get conductor(): string | undefined {
    return [...this.#peers].find(([, { isConducting }]) => isConducting)?.[0];
  }

  homeOf(agentId: number): string | undefined {
    return this.#homes.get(agentId)?.peer;
  }

  roundTripMs(agentId: number): number | undefined {
    return this.#homes.get(agentId)?.roundTripMs;
  }

  get agentIds(): number[] {
    return [...this.#homes.keys()];
  }

  heard(peer: string, now: number, isConducting = this.#peers.get(peer)?.isConducting ?? false): void {
    // The last one to say so conducts; one that died does not take it back.
    if (isConducting && !this.#peers.get(peer)?.isConducting) {
      for (const other of this.#peers.values()) other.isConducting = false;
    }
    this.#peers.set(peer, { heardAt: now, isConducting });
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

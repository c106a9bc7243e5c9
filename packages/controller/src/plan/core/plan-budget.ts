/** Most orders of a plan, and most targets of all its clients together: beyond, a plan would fill the memory. */
const mostOrders = 5000;
const mostTargets = 200_000;

/** What a plan may still grow by. */
export class PlanBudget {
  #orders = mostOrders;
  #targets = mostTargets;

  /** False when there is no room for another client with so many targets. */
  takeClient(targets: number): boolean {
    this.#orders -= 1;
    return this.takeTargets(targets) && this.#orders >= 0;
  }

  takeTargets(targets: number): boolean {
    this.#targets -= targets;
    return this.#targets >= 0;
  }
}

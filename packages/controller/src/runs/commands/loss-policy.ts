import { agentIn, isGone, type RunView } from '../lifecycle/run-view.ts';

export type Reaction = 'fail' | 'continue' | 'stop';

const isInPlanes = ({ run: { definition } }: RunView, agentId: number) =>
  [...definition.accessPlane, ...definition.controlPlane].some(
    (entry) => (entry as { agent?: { id?: number } }).agent?.id === agentId,
  );

/** Every entry of the agent is still served by another agent. */
const isReplaceable = (view: RunView, agentId: number) => {
  const others = view.agents.filter((agent) => agent.agentID !== agentId && !isGone(agent));
  const lost = agentIn(view, agentId);
  return (lost?.orders ?? []).every(({ entry, role }) =>
    others.some(({ orders }) => orders.some((job) => job.entry === entry && job.role === role)),
  );
};

/**
 * Decides about a run that has lost an agent. `auto` continues only if nothing but a share of the load is missing:
 * not without the only server or client of an entry, nor without an agent of the access or control plane.
 */
export const reactionTo = (view: RunView, agentId: number): Reaction => {
  const policy = view.run.agentLossPolicy;
  if (policy === 'fail' || policy === 'continue' || policy === 'stop') return policy;
  return isInPlanes(view, agentId) || !isReplaceable(view, agentId) ? 'fail' : 'continue';
};

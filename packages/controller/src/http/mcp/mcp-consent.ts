import {
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type InputRequiredResult,
  inputRequired,
  inputResponse,
  type ServerContext,
} from '@modelcontextprotocol/server';
import type { Approval } from '@rushhour/contract';
import type { Tool } from '../../ai/gateway/tools.ts';

type Given = Record<string, unknown>;

/** The reply to a request for approval. */
interface Pending {
  readonly data: { approval: Approval; approvalToken?: string; reviewUrl?: string; nextStep: string };
}

/** State passed from the first round to the second. The client may read it: it contains nothing the client was not sent. */
interface State {
  readonly approvalId: number;
  readonly approvalToken: string;
  readonly reviewUrl?: string | undefined;
  readonly isStart: boolean;
}

/** Runs an operation for the key of the request, by its name in the contract. */
export type RunTool = (key: string, given: Given, consent?: string) => Promise<string>;

const asking = new Set(['start', 'act']);
const stateSec = 86_400;

const elicitationOf = ({ mcpReq: { envelope } }: ServerContext) =>
  ((envelope as Given | undefined)?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined)?.elicitation;

const planText = ({ plan, risk, reason }: Approval) =>
  [
    `${plan.summary} (${risk})`,
    `Reason: ${reason}`,
    ...(plan.targets.length > 0 ? [`Targets: ${plan.targets.join(', ')}`] : []),
    ...plan.warnings.map((warning) => `Warning: ${warning}`),
    ...(plan.conflicts.length > 0 ? [`${plan.conflicts.length} other tasks want the same agents.`] : []),
  ].join('\n');

/** The second round: runs the operation or cancels the approval, depending on the user's answer. */
const resume = async (run: RunTool, given: Given, { mcpReq }: ServerContext): Promise<string | undefined> => {
  const state = mcpReq.requestState<State>();
  if (state === undefined) return undefined;
  const { approvalId: id, approvalToken, reviewUrl, isStart } = state;
  const tool = isStart ? 'confirmStart' : 'confirmAct';
  if (reviewUrl !== undefined) {
    const { cursor, data: approval } = JSON.parse(await run('approval', { id }));
    const nextStep = `Call ${isStart ? 'task_start_confirm' : 'task_action_confirm'} once it is approved.`;
    return JSON.stringify({ cursor, data: { approval, approvalToken, reviewUrl, nextStep } });
  }
  const answer = inputResponse(mcpReq.inputResponses, 'consent');
  if (answer.kind !== 'elicit' || answer.action !== 'accept') {
    return run('cancelApproval', { id, reason: 'the user of the client declined' });
  }
  const { idempotencyKey } = given;
  const confirmation = { approvalToken, ...(idempotencyKey !== undefined && { idempotencyKey }) };
  return run(tool, confirmation, 'client-elicitation');
};

/**
 * Shows a request for approval to the user of the client, if the client supports it. Their consent confirms requests that
 * the key may confirm itself; other requests need an approver, and the user gets a link to the approval page.
 */
export const createConsent = (key: Uint8Array) => {
  const codec = createRequestStateCodec<State>({
    ...{ key, ttlSeconds: stateSec },
    bind: ({ mcpReq, http }) => `${mcpReq.method}\0${http?.authInfo?.clientId ?? ''}`,
  });

  const requestFor = ({ approval, reviewUrl = '', nextStep }: Pending['data'], context: ServerContext) => {
    const able = elicitationOf(context);
    if (approval.policy === 'human') {
      const url = new URL(reviewUrl, context.http?.req?.url).href;
      return able?.url && { review: inputRequired.elicitUrl({ message: nextStep, url }) };
    }
    const takesForms = able !== undefined && (able.form !== undefined || able.url === undefined);
    const requestedSchema = { type: 'object' as const, properties: {} };
    return takesForms && { consent: inputRequired.elicit({ message: planText(approval), requestedSchema }) };
  };

  return {
    verify: codec.verify,

    /** The question for the user; undefined when there is none or the client cannot ask. */
    ask: async (tool: Tool, text: string, context: ServerContext): Promise<InputRequiredResult | undefined> => {
      if (!asking.has(tool.key)) return undefined;
      const { data } = JSON.parse(text) as Pending;
      const { approval, approvalToken, reviewUrl } = data;
      const inputRequests = approvalToken === undefined ? undefined : requestFor(data, context);
      if (!inputRequests || approvalToken === undefined) return undefined;
      const state = { approvalId: approval.id, approvalToken, reviewUrl, isStart: tool.key === 'start' };
      return inputRequired({ inputRequests, requestState: await codec.mint(state, context) });
    },
    resume,
  };
};

import type { api } from '@rushhour/contract';
import type { Caller } from '../caller.ts';
import { assertAllFound, cursorOf, pageRequestOf } from '../crud.ts';
import type { Handlers } from '../handler.ts';
import { agentTokens } from '../store/agents/agent-tokens.ts';
import type { Store } from '../store/store.ts';
import { createEnrolmentToken } from './gateway/enrolment.ts';

interface Deps {
  store: Store;
  /** SHA-256 of the TLS certificate; empty without TLS. */
  fingerprint: string;
}

type TokenHandlers = Pick<Handlers<typeof api.agents>, 'tokens' | 'createToken' | 'removeTokens'>;

/** Where the caller reaches the controller: agents that stand beside them can reach it there, too. */
const urlFor = (caller: Caller, isTls: boolean) => {
  const host = caller.header('host') ?? '';
  return `${isTls ? 'https' : 'http'}://${/^[\w.:[\]-]{1,255}$/.test(host) ? host : 'localhost'}`;
};

export const tokenHandlers = ({ store, fingerprint }: Deps): TokenHandlers => ({
  tokens: async ({ query }) => {
    const request = pageRequestOf(query, 'id');
    const { rows, total } = await agentTokens.page(store.read, { ...request, filters: {} });
    return { cursor: cursorOf(request.limit, request.offset, total), data: rows };
  },
  createToken: ({ body }, caller) =>
    store.change(caller, async (tx) => {
      const { id, token } = await createEnrolmentToken(tx, body);
      const controllerUrl = urlFor(caller, fingerprint !== '');
      const pinned = fingerprint === '' ? '' : ` --fingerprint ${fingerprint}`;
      const command = `rushhour agent --controller ${controllerUrl} --token ${token}${pinned}`;
      return { data: { id, token, controllerUrl, fingerprint, command } };
    }),
  removeTokens: ({ body: { array } }, caller) =>
    store.change(caller, async (tx) => {
      assertAllFound('token', array, await agentTokens.remove(tx, array));
      return { data: array };
    }),
});

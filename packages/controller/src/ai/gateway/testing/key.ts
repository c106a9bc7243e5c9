import type { AiKeyDraft } from '@rushhour/contract';
import type { SignedIn, TestController } from '../../../testing/controller.ts';

let count = 0;

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: tests look into what they expect
  body: any;
}

/** A new key of this person, and a way to call the gateway with it. */
export const newTestKey = async (
  controller: TestController,
  owner: SignedIn,
  draft: Partial<AiKeyDraft> & Pick<AiKeyDraft, 'scopes'>,
) => {
  count += 1;
  const { data } = await owner.client.aiAdmin.createKey({ body: { name: `key ${count}`, ...draft } });
  return { ...data, call: callWith(controller.url, data.secret) };
};

export const callWith =
  (url: string, secret: string | undefined) =>
  async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Answer> => {
    const response = await fetch(`${url}/v1/ai/gateway${path}`, {
      method,
      headers: {
        ...(secret !== undefined && { 'x-api-key': secret }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
  };

import type { Client } from '@rushhour/client/routes';
import { Command } from 'commander';
import { addConnectionOptions, addOutputOption, type CommonOptions, connectionOf } from '../common-options.ts';
import { formatOf, printReply, write } from '../output/print.ts';
import type { Digest } from '../routes/route-digest.ts';
import { connect, refreshingClient } from './connection.ts';

interface CreateOptions extends CommonOptions {
  readonly name: string;
  readonly scopes?: string;
  readonly days: string;
}

const created = async (client: Client, { name, scopes, days, output }: CreateOptions) => {
  const createToken = { name, ttlDays: Number(days), ...(scopes && { scopes: scopes.split(',') }) };
  const { data } = await client.users.updateMe({ body: { createToken } });
  if (output !== undefined) return printReply({ data }, output);
  process.stderr.write(`token ${data.tokenID}, shown only now:\n`);
  await write(`${data.token}\n`);
};

/** Access tokens for pipelines: made, listed and revoked by the person they act for. */
export const tokenCommand = (digest: Digest): Command => {
  const token = new Command('token').description('your access tokens, for pipelines and scripts');
  const withClient = async (command: Command) => refreshingClient(await connect(digest, connectionOf(command)));
  const add = (name: string, description: string) => {
    const command = token.command(name).description(description);
    addOutputOption(command);
    addConnectionOptions(command);
    return command;
  };
  const create = add('create', 'make a token and print it; only its hash is stored')
    .requiredOption('--name <text>', 'what it is for')
    .option('--scopes <names>', 'permissions it is limited to, separated by commas; all of yours when left out')
    .option('--days <number>', 'days until it expires, 1 to 366', '90')
    .addHelpText(
      'after',
      '\nExample:\n  export RUSHHOUR_TOKEN=$(rushhour token create --name ci --scopes tasks.read,tasks.execute --days 30)',
    );
  create.action(async (options: CreateOptions) => created(await withClient(create), options));
  const list = add('list', 'your tokens that have not expired');
  list.action(async ({ output }: CommonOptions) => {
    const { data } = await (await withClient(list)).users.me();
    await printReply({ data: data.accessTokens }, formatOf(output));
  });
  const revoke = add('revoke', 'revoke tokens; they stop working at once').argument('<ids...>');
  revoke.action(async (ids: string[]) => {
    await (await withClient(revoke)).users.updateMe({ body: { revokeTokens: ids.map(Number) } });
  });
  return token;
};

import { Command } from 'commander';
import { addConnectionOptions, connectionOf } from '../common-options.ts';
import { write } from '../output/print.ts';
import type { Digest } from '../routes/route-digest.ts';
import { connect } from './connection.ts';
import { readPassword } from './password.ts';

/** Signs in and keeps the session for later commands. */
export const loginCommand = (digest: Digest): Command => {
  const command = new Command('login')
    .description('sign in; the session is kept for later commands')
    .requiredOption('--email <address>', 'e-mail address of the account')
    .addHelpText(
      'after',
      '\nThe password is asked for, or comes from RUSHHOUR_PASSWORD or standard input.\nPipelines use an access token: `rushhour token create`.',
    );
  addConnectionOptions(command);
  return command.action(async ({ email }: { email: string }) => {
    const connection = await connect(digest, { ...connectionOf(command), token: '' });
    const password = await readPassword();
    const { data } = await connection.client.auth.login({ body: { email, password } });
    connection.save();
    const next = '; now set a password: rushhour auth password --currentPassword … --newPassword …';
    await write(`signed in as ${data.user.realName}${data.isRequiredToSetPassword ? next : ''}\n`);
  });
};

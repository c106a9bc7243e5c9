import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { addConnectionOptions, addOutputOption, type CommonOptions, connectionOf } from '../common-options.ts';
import { connect, withRefresh } from '../connection/connection.ts';
import { formatOf, printEvents } from '../output/print.ts';
import type { Digest } from '../routes/route-digest.ts';

const reopenMs = 1000;

/** Follows the notifications. The controller ends a stream with its access token: it is refreshed and reopened. */
export const watchCommand = (digest: Digest): Command => {
  const command = new Command('watch').description('notifications and states as they happen');
  addOutputOption(command);
  addConnectionOptions(command);
  return command.action(async ({ output }: CommonOptions) => {
    const connection = await connect(digest, connectionOf(command));
    let lastId: string | undefined;
    for (;;) {
      const headers: Record<string, string> = lastId === undefined ? {} : { 'last-event-id': lastId };
      const events = await withRefresh(connection, (client) => client.notifications.stream({}, { headers }));
      async function* noted() {
        for await (const event of events) {
          lastId = event.id ?? lastId;
          yield event;
        }
      }
      await printEvents(noted(), formatOf(output));
      await sleep(reopenMs);
    }
  });
};

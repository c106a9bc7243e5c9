import { type Command, Option } from 'commander';
import type { ConnectionOptions } from './connection/connection.ts';
import { type OutputFormat, outputFormats } from './output/print.ts';

export interface CommonOptions extends ConnectionOptions {
  readonly output?: OutputFormat;
}

const group = 'Controller:';

export const addConnectionOptions = (command: Command) =>
  command
    .addOption(
      new Option('--url <address>', 'the controller (RUSHHOUR_URL; else that of the last login)').helpGroup(group),
    )
    .addOption(
      new Option('--token <token>', 'an access token (RUSHHOUR_TOKEN; else the session of login)').helpGroup(group),
    )
    .addOption(
      new Option('--ca-cert <file>', 'PEM of the authority of its certificate (RUSHHOUR_CA_CERT)').helpGroup(group),
    );

export const addOutputOption = (command: Command) =>
  command.addOption(new Option('-o, --output <format>', 'table on a terminal, json otherwise').choices(outputFormats));

/** The options of a command that are for the connection. */
export const connectionOf = (command: Command): ConnectionOptions => {
  const { url, token, caCert } = command.opts<CommonOptions>();
  return { ...(url && { url }), ...(token && { token }), ...(caCert && { caCert }) };
};

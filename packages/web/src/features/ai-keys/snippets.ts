import { text } from '../../lib/text.ts';

const { aiKeys: words } = text;

/** What a client of MCP needs: a command, or a file with its place. */
export interface Snippet {
  readonly client: string;
  readonly where: string;
  readonly code: string;
}

const json = (value: object) => JSON.stringify(value, null, 2);

/** The address of the MCP server and the key, in the form of each common client. */
export const snippetsFor = (origin: string, key: string): Snippet[] => {
  const url = `${origin}/mcp`;
  const headers = { Authorization: `Bearer ${key}` };
  const bridge = { command: 'npx', args: ['mcp-remote', url, '--header', `Authorization: Bearer ${key}`] };
  return [
    {
      client: 'Claude Code',
      where: words.inTerminal,
      code: `claude mcp add --transport http rushhour ${url} --header "Authorization: Bearer ${key}"`,
    },
    {
      client: 'Claude Desktop',
      where: 'claude_desktop_config.json',
      code: json({ mcpServers: { rushhour: bridge } }),
    },
    { client: 'Cursor', where: '.cursor/mcp.json', code: json({ mcpServers: { rushhour: { url, headers } } }) },
    {
      client: 'VS Code',
      where: '.vscode/mcp.json',
      code: json({ servers: { rushhour: { type: 'http', url, headers } } }),
    },
    { client: words.others, where: words.streamableHttp, code: json({ type: 'http', url, headers }) },
  ];
};

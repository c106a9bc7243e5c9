import { api } from '@rushhour/contract';
import { expect, it } from 'vitest';
import { optionsOf, requestOf } from './arguments.ts';

const parse = (route: Parameters<typeof requestOf>[0], line: string) => requestOf(route, optionsOf(line.split(' ')));

it('assigns every option to path, query or body', () => {
  expect(parse(api.groups.routes.get, '--id 7')).toEqual({ params: { id: 7 }, query: {} });
  expect(parse(api.groups.routes.list, '--count=10 --offset 0')).toEqual({
    params: {},
    query: { count: 10, offset: 0 },
  });
  expect(parse(api.projects.routes.create, '--name 12 --description x')).toEqual({
    params: {},
    query: {},
    body: { name: '12', description: 'x' },
  });
  expect(parse(api.users.routes.block, '--array [1,2]')).toMatchObject({ body: { array: [1, 2] } });
  expect(parse(api.groups.routes.create, '--json {"name":"a"} --permissions [{"value":41}]')).toMatchObject({
    body: { name: 'a', permissions: [{ value: 41 }] },
  });
});

it('reports unknown and malformed options', () => {
  expect(() => parse(api.groups.routes.get, '--colour red')).toThrow('unknown option --colour; options: --id');
  expect(() => optionsOf(['stray'])).toThrow('unexpected argument "stray"');
  expect(() => parse(api.groups.routes.create, '--json {')).toThrow('--json:');
});

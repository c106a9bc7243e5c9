import { api, type Collection, type Route } from '@rushhour/contract';
import { ApiError } from '../errors.ts';

const routes = Object.values(api as Record<string, Collection>).flatMap(({ routes }) => Object.values<Route>(routes));

const known = [...Map.groupBy(routes, ({ path }) => path)].map(([path, same]) => ({
  pattern: new RegExp(`^/v1${path.replace(/:\w+/g, '[^/]+')}$`),
  methods: methodsOf(same),
}));

function methodsOf(same: readonly Route[]): string[] {
  const hasHead = same.some(({ method, events }) => method === 'GET' && !events);
  return [...same.map(({ method }) => method), ...(hasHead ? ['HEAD'] : [])];
}

/** Why no route was found: the path takes other methods (405 with `Allow`), or there is no such path (404). */
export const noRoute = (method: string, url: string): ApiError => {
  const path = url.split('?')[0] ?? '';
  const methods = known.filter(({ pattern }) => pattern.test(path)).flatMap(({ methods }) => methods);
  if (methods.length === 0) return new ApiError('notFound', 'NO_SUCH_ROUTE', `there is no ${path.slice(0, 200)}`);
  const allow = [...new Set(methods)].join(', ');
  return new ApiError('methodNotAllowed', 'METHOD_NOT_ALLOWED', `${method} is not possible here: ${allow}`, { allow });
};

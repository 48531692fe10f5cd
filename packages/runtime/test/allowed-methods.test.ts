import { expect, test } from 'vitest'
import { listAllowedMethods } from '../src/http/request/allowed-methods.ts'

const routes = [
  { method: 'GET', url: '/collections/:id' },
  { method: 'PUT', url: '/collections/:id' },
  { method: 'DELETE', url: '/collections/:id/videos/:video' },
  { method: 'GET,HEAD', url: '/a.b' },
  { method: 'GET', url: '/static/*' },
  { method: 'POST', url: '/collections/search' },
  { method: 'GET', url: '/collections/search', isForbidden: true },
  { method: 'PUT', url: '/collections/search', isForbidden: true },
]

test.each([
  ['/collections/x', ['GET', 'PUT']],
  ['/collections/x?y=/z', ['GET', 'PUT']],
  ['/collections/', []],
  ['/collections/x/videos/y', ['DELETE']],
  ['/collections/x/videos', []],
  ['/a.b', ['GET', 'HEAD']],
  ['/aXb', []],
  ['/collections/search', ['POST']],
  ['/static/a/b', ['GET']],
  ['/', []],
])('%s allows %j', (path, methods) => expect(listAllowedMethods(routes, path)).toEqual(methods))

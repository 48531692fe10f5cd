import type { Contender } from './contender.ts'
import { scriptContender } from './script.ts'

/** The libraries that one would take for Node otherwise, each as its README says, with all its defaults. */
export const betterSse: Contender = scriptContender('better-sse', './better-sse-server.ts')
export const fastifySse: Contender = scriptContender('@fastify/sse', './fastify-sse-server.ts')

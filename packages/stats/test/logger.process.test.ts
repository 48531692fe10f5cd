import { parts } from '../src/parts.ts'
import { testLogger, type LoggerTraits } from './logger.conformance.ts'

const traits: Record<keyof typeof parts.logger, LoggerTraits> = {
  console: {},
  dropping: { drops: true },
  pino: {},
  'pino-worker': {},
  silent: { silent: true },
}

for (const [name, create] of Object.entries(parts.logger)) {
  testLogger(name, create, traits[name as keyof typeof traits])
}

import { parts } from '../src/parts.ts'
import { serverConformance } from './server.conformance.ts'

for (const name of Object.keys(parts.server)) serverConformance(name)

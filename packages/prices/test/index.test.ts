import { parts } from '../src/parts.ts'
import { indexConformance } from './index.conformance.ts'
import { INDEXES } from './support/indexes.ts'

for (const name of INDEXES) indexConformance(name, parts.index[name])

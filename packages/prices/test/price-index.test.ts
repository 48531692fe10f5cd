import { parts } from '../src/parts.ts'
import { testPriceIndex } from './price-index.conformance.ts'
import { INDEXES } from './support/available-indexes.ts'

for (const name of INDEXES) testPriceIndex(name, parts.index[name])

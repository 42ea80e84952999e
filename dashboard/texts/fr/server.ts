import type { ServerTexts } from '../en/server.ts'
import { about } from './about.ts'
import { city } from './city.ts'
import { common } from './common.ts'
import { mail } from './mail.ts'
import { people } from './people.ts'
import { spaced } from './spaced.ts'

export const catalogue: ServerTexts = spaced({ about, city, common, mail, people })

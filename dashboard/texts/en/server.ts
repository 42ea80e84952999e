/** The texts of the pages that the server writes, and of mails. */
import { about } from './about.ts'
import { city } from './city.ts'
import { common } from './common.ts'
import { mail } from './mail.ts'
import { people } from './people.ts'

export const catalogue = { about, city, common, mail, people }
export type ServerTexts = typeof catalogue

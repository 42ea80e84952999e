import { StartAgain } from '../runtime/exit.ts'

/** The process works with one contract: another one is next, so it ends and begins again with that. */
export class ContractChanged extends StartAgain {}

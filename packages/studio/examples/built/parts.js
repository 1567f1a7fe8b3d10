/** Parts of the engine that the modules for machines import. */
export * as program from '../../../core/src/program-parts.ts';

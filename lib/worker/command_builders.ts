import {
  type CommandBuilders,
  sparktsCommandBuilder,
} from "./command_builder.ts";
import { javaCommandBuilder } from "./java_command_builder.ts";

/** Who builds which kind of command, unless a caller says otherwise. */
export const DEFAULT_COMMAND_BUILDERS: CommandBuilders = {
  sparkts: sparktsCommandBuilder,
  java: javaCommandBuilder,
};

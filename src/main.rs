//! The `looptune` command.

use std::process::ExitCode;

use looptune::cli;

fn main() -> ExitCode {
    match cli::run(&cli::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // A reader that closed the pipe (`| head`) has had enough; that is no failure.
            let broken_pipe = |e: &(dyn std::error::Error + 'static)| {
                e.downcast_ref::<std::io::Error>()
                    .is_some_and(|e| e.kind() == std::io::ErrorKind::BrokenPipe)
            };
            if error.chain().any(broken_pipe) {
                return ExitCode::SUCCESS;
            }
            eprintln!("looptune: {error:#}");
            ExitCode::from(cli::exit_code(&error))
        }
    }
}
